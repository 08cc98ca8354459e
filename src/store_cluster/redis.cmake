# The function library travels inside the program: book.lua and what continues it are one text.
find_path(HIREDIS_INCLUDE hiredis/hiredis.h REQUIRED)
find_library(HIREDIS hiredis REQUIRED)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS book.lua book_control.lua)
file(READ book.lua BOOK_LUA)
file(READ book_control.lua BOOK_CONTROL_LUA)
string(SHA256 BOOK_VERSION "${BOOK_LUA}${BOOK_CONTROL_LUA}")
configure_file(redis_library.cpp.in redis_library.cpp @ONLY)

doorbuster_library(redis_store
    SOURCES redis_caller.cpp redis_client.cpp redis_codec.cpp redis_funnel.cpp redis_link.cpp redis_reserver.cpp redis_session.cpp
            redis_strikes.cpp
            ${CMAKE_CURRENT_BINARY_DIR}/redis_library.cpp
    LINKS doorbuster_store fmt::fmt ${HIREDIS}
    TESTS redis_book_test.cpp redis_client_test.cpp redis_fence_test.cpp redis_funnel_test.cpp redis_strikes_test.cpp
          redis_winners_test.cpp)
target_compile_definitions(redis_store_test PRIVATE DOORBUSTER_USERS_ACL="${PROJECT_SOURCE_DIR}/deploy/redis/users.acl")
