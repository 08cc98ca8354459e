#include "server/backend.hpp"

#include <algorithm>

#include "server/cluster_backend.hpp"
#include "server/embedded_backend.hpp"

namespace doorbuster {

StoreResult<int64_t> last_id_of(OrdersReader& reader) {
    const auto order = reader.last_order();
    if (!order) return order.error();
    const auto payment = reader.last_payment();
    if (!payment) return payment.error();
    return std::max(static_cast<int64_t>(*order), static_cast<int64_t>(*payment));
}

OpenedBackend open_backend(const Config& config, Clock& clock, Backend::Hooks hooks) {
    if (config.store.backend.value() == "cluster")
        return ClusterBackend::open(config, clock, std::move(hooks));
    return EmbeddedBackend::open(config, clock, std::move(hooks));
}

}  // namespace doorbuster
