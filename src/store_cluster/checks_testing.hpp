// For the tests of the warm-up checks: what was found, in short, and a PostgreSQL that is set up as for a
// sale.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/warm_up.hpp"
#include "store_cluster/pg_test_server.hpp"

namespace doorbuster::testing {

// "failure redis.eviction"; each says what is wrong and how to mend it.
inline std::vector<std::string> told(const WarmUpFindings& findings) {
    std::vector<std::string> checks;
    for (const WarmUpFinding& one : findings) {
        EXPECT_FALSE(one.what.empty() || one.mend.empty()) << one.check;
        checks.push_back(std::string(name_of(one.severity)) + " " + one.check);
    }
    return checks;
}

inline std::string mend_of(const WarmUpFindings& findings, std::string_view check) {
    for (const WarmUpFinding& one : findings) {
        if (one.check == check) return one.mend;
    }
    return {};
}

// Whose disk is trusted, unlike that of the one which all other tests share.
inline PostgresServer& durable_postgres() {
    static PostgresServer server(PostgresServer::Durability::full);
    return server;
}

inline const std::string& durable_database() {
    static const std::string name = durable_postgres().take_database();
    return name;
}

}  // namespace doorbuster::testing
