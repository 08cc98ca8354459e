// The orders of the cluster pass the contracts of their ports.
#include "store/audit_contract.hpp"
#include "store/orders_contract.hpp"
#include "store/outbox_contract.hpp"
#include "store/settings_contract.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using testing::PostgresFixture;

struct PostgresAuditFixture : PostgresFixture {
    AuditReader& reader() { return audit_reader(); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, OrdersContract, PostgresFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, SettingsContract, PostgresFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, OutboxContract, PostgresFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, AuditContract, PostgresAuditFixture);

}  // namespace
}  // namespace doorbuster
