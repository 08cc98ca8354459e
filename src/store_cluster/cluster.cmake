# What works on more than one of them.
doorbuster_library(cluster_store
    SOURCES cluster_acceptor.cpp cluster_board.cpp cluster_books.cpp cluster_books_control.cpp cluster_coordinator.cpp
            cluster_load.cpp cluster_lookup.cpp cluster_rebuild.cpp cluster_relay.cpp cluster_sweeper.cpp cluster_words.cpp
            lease_keeper.cpp
    LINKS doorbuster_redis_store doorbuster_postgres_store doorbuster_kafka_store
    TESTS cluster_books_test.cpp cluster_coordinator_test.cpp cluster_lookup_test.cpp cluster_rebuild_test.cpp
          cluster_relay_test.cpp cluster_sweeper_test.cpp cluster_words_test.cpp cluster_workers_test.cpp lease_keeper_test.cpp
    TEST_LINKS doorbuster_postgres_testing doorbuster_kafka_testing doorbuster_cluster_workers
    APART cluster_books_test.cpp cluster_lookup_test.cpp cluster_relay_test.cpp cluster_sweeper_test.cpp
          cluster_words_test.cpp)

# Apart, because only this runs the order worker.
doorbuster_library(cluster_workers
    SOURCES cluster_workers.cpp
    LINKS doorbuster_postgres_store doorbuster_kafka_store doorbuster_orders)
