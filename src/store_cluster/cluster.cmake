# What works on more than one of them.
doorbuster_library(cluster_store
    SOURCES cluster_coordinator.cpp cluster_load.cpp cluster_rebuild.cpp cluster_relay.cpp cluster_sweeper.cpp
    LINKS doorbuster_redis_store doorbuster_postgres_store doorbuster_kafka_store
    TESTS cluster_coordinator_test.cpp cluster_rebuild_test.cpp cluster_relay_test.cpp cluster_sweeper_test.cpp
          cluster_workers_test.cpp
    TEST_LINKS doorbuster_postgres_testing doorbuster_kafka_testing doorbuster_cluster_workers
    APART cluster_relay_test.cpp cluster_sweeper_test.cpp)

# Apart, because only this runs the order worker.
doorbuster_library(cluster_workers
    SOURCES cluster_workers.cpp
    LINKS doorbuster_postgres_store doorbuster_kafka_store doorbuster_orders)
