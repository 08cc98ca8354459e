find_path(RDKAFKA_INCLUDE librdkafka/rdkafka.h REQUIRED)
find_library(RDKAFKA rdkafka REQUIRED)

# A real broker for tests to start.
add_library(doorbuster_kafka_testing STATIC EXCLUDE_FROM_ALL kafka_test_broker.cpp)
target_link_libraries(doorbuster_kafka_testing PUBLIC doorbuster_kafka_store)
target_compile_definitions(doorbuster_kafka_testing PRIVATE DOORBUSTER_ROOT="${PROJECT_SOURCE_DIR}")

doorbuster_library(kafka_store
    SOURCES kafka_handle.cpp kafka_ledger.cpp kafka_reader.cpp kafka_record.cpp kafka_records.cpp kafka_topics.cpp
            kafka_whole_ledger.cpp
    LINKS doorbuster_store fmt::fmt ${RDKAFKA}
    TESTS kafka_crash_test.cpp kafka_ledger_test.cpp kafka_reader_test.cpp kafka_record_test.cpp kafka_records_test.cpp
          kafka_topics_test.cpp kafka_whole_ledger_test.cpp
    TEST_LINKS doorbuster_kafka_testing rapidcheck)

if(DOORBUSTER_SANITIZE MATCHES "thread")
    target_sources(doorbuster_kafka_store PRIVATE c11_threads_for_tsan.cpp)
    set_source_files_properties(c11_threads_for_tsan.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # Nothing of ours calls it: without this the linker would leave it out.
    target_link_options(doorbuster_kafka_store INTERFACE -Wl,--undefined=thrd_create)
endif()
