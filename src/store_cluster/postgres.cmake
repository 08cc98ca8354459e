find_package(PostgreSQL 15 REQUIRED)

# A real server for tests and benchmarks to start.
add_library(doorbuster_postgres_testing STATIC EXCLUDE_FROM_ALL pg_test_server.cpp)
target_link_libraries(doorbuster_postgres_testing PUBLIC doorbuster_postgres_store)

doorbuster_library(postgres_store
    SOURCES ledger_pin.cpp pg_connection.cpp pg_journal.cpp pg_migrations.cpp pg_moves.cpp pg_placing.cpp pg_pool.cpp pg_rows.cpp
            pg_schema.cpp pg_sealing.cpp pg_values.cpp postgres_audit.cpp postgres_epochs.cpp
            postgres_duty.cpp postgres_node_lease.cpp postgres_orders.cpp postgres_orders_reader.cpp postgres_outbox.cpp
            postgres_partition_lease.cpp postgres_rebuilds.cpp postgres_replica.cpp postgres_settings.cpp postgres_worker_presence.cpp
            purchase_changes.cpp
    LINKS doorbuster_store fmt::fmt PostgreSQL::PostgreSQL
    TESTS postgres_store_test.cpp pg_connection_test.cpp pg_schema_test.cpp postgres_duty_test.cpp postgres_epochs_test.cpp
          postgres_lease_test.cpp postgres_replica_test.cpp postgres_rules_test.cpp postgres_unknown_test.cpp
          postgres_writers_test.cpp primary_clock_test.cpp
    TEST_LINKS doorbuster_postgres_testing)
