# One library per folder of src/: its link list is its place in the dependency diagram.
#   doorbuster_library(book SOURCES a.cpp b.cpp LINKS base fmt::fmt TESTS a_test.cpp)
# Unit tests sit beside the code and become one program per folder, NAME_test. Several files are
# compiled as one, for speed: of the code as many as the preset says, so that a change waits for few; of
# the tests, which are not optimised, eight. APART names the files whose local names would clash.
function(doorbuster_library NAME)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;TESTS;TEST_LINKS;APART" ${ARGN})
    set(TARGET doorbuster_${NAME})
    if(ARG_SOURCES)
        add_library(${TARGET} STATIC ${ARG_SOURCES})
        target_include_directories(${TARGET} PUBLIC ${PROJECT_SOURCE_DIR}/src)
        target_link_libraries(${TARGET} PUBLIC ${ARG_LINKS} Threads::Threads)
    else()
        add_library(${TARGET} INTERFACE)
        target_include_directories(${TARGET} INTERFACE ${PROJECT_SOURCE_DIR}/src)
        target_link_libraries(${TARGET} INTERFACE ${ARG_LINKS})
    endif()
    if(ARG_TESTS)
        add_executable(${NAME}_test ${ARG_TESTS})
        target_link_libraries(${NAME}_test PRIVATE ${TARGET} ${ARG_TEST_LINKS} GTest::gmock GTest::gtest_main)
        # Of the tests themselves only the compile time matters.
        target_compile_options(${NAME}_test PRIVATE -O0)
        set_target_properties(${NAME}_test PROPERTIES
            UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8 RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit)
        set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        add_test(NAME ${NAME} COMMAND ${NAME}_test)
        set_property(GLOBAL APPEND PROPERTY DOORBUSTER_TESTS ${NAME}_test)
    endif()
endfunction()
