# What works on more than one of them.
doorbuster_library(cluster_store
    SOURCES cluster_load.cpp cluster_relay.cpp
    LINKS doorbuster_redis_store doorbuster_postgres_store
    TESTS cluster_relay_test.cpp
    TEST_LINKS doorbuster_postgres_testing)
