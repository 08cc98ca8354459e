#include "http/restock_body.hpp"

#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "http/json.hpp"

namespace doorbuster {

RestockReading read_restock(const boost::json::value& value, const ListedSale& listed) {
    RestockReading reading;
    auto fault = [&](std::string pointer, std::string detail) {
        reading.faults.push_back({std::move(pointer), std::move(detail)});
    };
    if (!value.is_object()) {
        fault("", "must be an object");
        return reading;
    }
    const boost::json::object& object = value.get_object();
    for (const auto& field : object) {
        if (field.key() != "item" && field.key() != "units") {
            fault(pointer_step(std::string_view(field.key())), "is not a field of a restock");
        }
    }

    uint32_t units_room = units_max;
    if (const auto* item = object.if_contains("item"); item == nullptr) {
        fault("/item", "is required");
    } else if (!item->is_string()) {
        fault("/item", "must be the id of an item, as text");
    } else if (const ListedItem* found = listed.find(std::string_view(item->get_string()));
               found == nullptr) {
        fault("/item", "is not an item of this sale");
    } else {
        reading.item = found->item.id;
        units_room = units_max - std::min(units_max, found->item.units_total);
    }

    if (const auto* units = object.if_contains("units"); units == nullptr) {
        fault("/units", "is required");
    } else if (!units->is_int64() || units->get_int64() < 1 || units->get_int64() > units_room) {
        fault("/units", fmt::format("must be a whole number from 1 to {}", units_room));
    } else {
        reading.units = static_cast<uint32_t>(units->get_int64());
    }
    return reading;
}

}  // namespace doorbuster
