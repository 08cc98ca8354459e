# What works on more than one of them.
doorbuster_library(cluster_store
    SOURCES cluster_acceptor.cpp cluster_board.cpp cluster_books.cpp cluster_books_control.cpp cluster_coordinator.cpp
            cluster_lag.cpp cluster_load.cpp cluster_lookup.cpp cluster_rebuild.cpp cluster_relay.cpp cluster_sweeper.cpp cluster_words.cpp
            dead_letter_topic.cpp lease_keeper.cpp
    LINKS doorbuster_redis_store doorbuster_postgres_store doorbuster_kafka_store
    TESTS cluster_acceptor_test.cpp cluster_audit_test.cpp cluster_books_test.cpp cluster_coordinator_test.cpp cluster_lag_test.cpp cluster_looks_test.cpp cluster_lookup_test.cpp cluster_rebuild_test.cpp
          cluster_relay_test.cpp cluster_sweeper_test.cpp cluster_words_test.cpp cluster_workers_test.cpp dead_letter_topic_test.cpp lease_keeper_test.cpp
    TEST_LINKS doorbuster_postgres_testing doorbuster_kafka_testing doorbuster_cluster_workers doorbuster_audit
    APART cluster_audit_test.cpp cluster_books_test.cpp cluster_lookup_test.cpp cluster_relay_test.cpp cluster_sweeper_test.cpp
          cluster_words_test.cpp dead_letter_topic_test.cpp)

# Apart, because only this runs the order worker.
doorbuster_library(cluster_workers
    SOURCES cluster_workers.cpp
    LINKS doorbuster_postgres_store doorbuster_kafka_store doorbuster_orders)

# What is looked at before a sale may open.
doorbuster_library(cluster_checks
    SOURCES clock_check.cpp cluster_checks.cpp cluster_warm_up.cpp postgres_checks.cpp redis_checks.cpp
    LINKS doorbuster_redis_store doorbuster_postgres_store doorbuster_kafka_store
    TESTS cluster_checks_test.cpp postgres_checks_test.cpp redis_checks_test.cpp
    TEST_LINKS doorbuster_postgres_testing doorbuster_kafka_testing
    APART cluster_checks_test.cpp postgres_checks_test.cpp redis_checks_test.cpp)
target_compile_definitions(cluster_checks_test PRIVATE DOORBUSTER_USERS_ACL="${PROJECT_SOURCE_DIR}/deploy/redis/users.acl")
