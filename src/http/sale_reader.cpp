#include <fmt/format.h>

#include <initializer_list>
#include <limits>

#include "base/rfc3339.hpp"
#include "http/json.hpp"
#include "http/sale_json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr const char* id_detail = "must be lower-case letters, digits and inner hyphens, at most 64";

// Reads the fields of one JSON object and notes what is wrong with them. A field that
// cannot be read keeps the value that the caller put in: one that no rule objects to.
class Fields {
public:
    Fields(const json::object& object, std::string at, std::vector<Fault>& faults)
        : object_(object), at_(std::move(at)), faults_(faults) {}

    void fault(std::string_view name, std::string detail) {
        faults_.push_back({at_ + pointer_step(name), std::move(detail)});
    }

    const json::value* required(std::string_view name) {
        const json::value* value = object_.if_contains(name);
        if (value == nullptr) fault(name, "is required");
        return value;
    }
    const json::value* optional(std::string_view name) const { return object_.if_contains(name); }

    void text(std::string_view name, const json::value* value, std::string& into) {
        if (value == nullptr) return;
        if (!value->is_string()) return fault(name, "must be text");
        into = std::string(value->get_string());
    }
    template <class Id>
    void id(std::string_view name, const json::value* value, Id& into) {
        if (value == nullptr) return;
        if (!value->is_string()) return fault(name, "must be text");
        const auto read = Id::from(std::string_view(value->get_string()));
        if (!read) return fault(name, id_detail);
        into = *read;
    }
    template <class Number>
    void number(std::string_view name, const json::value* value, Number& into) {
        if (value == nullptr) return;
        // Both kinds are whole numbers: text gives int64 up to its range, the server's own uint64.
        json::error_code error;
        const auto read = value->is_double() ? int64_t{-1} : value->to_number<int64_t>(error);
        if (error || value->is_double()) return fault(name, "must be a whole number within range");
        if (read < 0 || !std::in_range<Number>(read)) {
            return fault(name, fmt::format("must be from 0 to {}", std::numeric_limits<Number>::max()));
        }
        into = static_cast<Number>(read);
    }
    template <class Duration>
    void duration(std::string_view name, Duration& into) {
        int64_t count = into.count();
        number(name, optional(name), count);
        into = Duration(count);
    }
    void instant(std::string_view name, Instant& into) {
        std::string written;
        const size_t before = faults_.size();
        text(name, required(name), written);
        if (faults_.size() != before || !object_.contains(name)) return;
        const auto read = parse_rfc3339(written);
        if (!read) return fault(name, "must be a time such as 2026-12-01T12:00:00Z");
        into = *read;
    }
    void refuse_others(std::initializer_list<std::string_view> known, std::string_view whose) {
        for (const auto& field : object_) {
            const std::string_view key = field.key();
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                fault(key, fmt::format("is not a field of {}", whose));
            }
        }
    }

private:
    const json::object& object_;
    const std::string at_;
    std::vector<Fault>& faults_;
};

Item read_item(const json::value& value, const std::string& at, std::vector<Fault>& faults) {
    // So that an unreadable field brings no second fault along.
    Item item;
    item.units_total = units_max;
    if (!value.is_object()) {
        faults.push_back({at, "must be an object"});
        return item;
    }
    Fields fields(value.get_object(), at, faults);
    fields.refuse_others({"id", "name", "price_minor", "original_price_minor", "currency", "units_total",
                          "units_per_buyer_max", "orders_max"},
                         "an item");
    fields.id("id", fields.required("id"), item.id);
    fields.text("name", fields.required("name"), item.name);
    fields.number("price_minor", fields.required("price_minor"), item.price_minor);
    item.original_price_minor = item.price_minor;
    fields.number("original_price_minor", fields.optional("original_price_minor"), item.original_price_minor);
    fields.text("currency", fields.required("currency"), item.currency);
    fields.number("units_total", fields.required("units_total"), item.units_total);
    fields.number("units_per_buyer_max", fields.optional("units_per_buyer_max"), item.units_per_buyer_max);
    fields.number("orders_max", fields.optional("orders_max"), item.orders_max);
    return item;
}

void read_items(const json::value* value, Sale& sale, std::vector<Fault>& faults) {
    if (value == nullptr) return;
    if (!value->is_array()) {
        faults.push_back({"/items", "must be a list of items"});
        return;
    }
    const json::array& items = value->get_array();
    if (items.size() > items_per_sale_max) {
        faults.push_back({"/items", fmt::format("must have 1 to {} items", items_per_sale_max)});
        return;
    }
    for (size_t i = 0; i < items.size(); ++i) {
        sale.items.push_back(read_item(items[i], fmt::format("/items/{}", i), faults));
    }
}

void read_state(Fields& fields, std::optional<SaleState>& into) {
    const json::value* value = fields.optional("state");
    if (value == nullptr) return;
    const auto state =
        value->is_string() ? sale_state_of(std::string_view(value->get_string())) : std::nullopt;
    if (state != SaleState::draft && state != SaleState::scheduled) {
        return fields.fault("state", "must be \"draft\" or \"scheduled\"; the other states have verbs");
    }
    into = state;
}

void read_stock_policy(Fields& fields, StockPolicy& into) {
    const json::value* value = fields.optional("stock_policy");
    if (value == nullptr) return;
    const auto policy =
        value->is_string() ? stock_policy_of(std::string_view(value->get_string())) : std::nullopt;
    into = policy.value_or(StockPolicy::at_payment);  // to which no item's orders_max is a contradiction
    if (!policy) fields.fault("stock_policy", "must be \"reserve\", \"at_order\" or \"at_payment\"");
}

void read_human_check(Fields& fields, HumanCheck& into) {
    const json::value* value = fields.optional("human_check");
    if (value == nullptr) return;
    const auto check =
        value->is_string() ? human_check_of(std::string_view(value->get_string())) : std::nullopt;
    if (!check) return fields.fault("human_check", "must be \"none\", \"pow\" or \"image\"");
    into = *check;
}

// A fault at this place, or at one that contains it, was reported when reading.
bool is_reported(const std::vector<Fault>& faults, std::string_view pointer) {
    for (const Fault& fault : faults) {
        if (pointer.substr(0, fault.pointer.size()) != fault.pointer) continue;
        if (pointer.size() == fault.pointer.size() || pointer[fault.pointer.size()] == '/') return true;
    }
    return false;
}

}  // namespace

namespace {

SaleReading read_terms(const json::value& value) {
    SaleReading reading;
    if (!value.is_object()) {
        reading.faults.push_back({"", "must be an object"});
        return reading;
    }
    Sale& sale = reading.sale;
    Fields fields(value.get_object(), "", reading.faults);
    fields.refuse_others({"id", "title", "state", "opens_at", "closes_at", "warm_before_s", "stock_policy",
                          "payment_window_s", "human_check", "pow_number_max", "purchases_per_second_max",
                          "buyers_per_address_max", "start_jitter_ms", "items"},
                         "a sale");
    fields.id("id", fields.required("id"), sale.id);
    fields.text("title", fields.required("title"), sale.title);
    read_state(fields, reading.state);
    sale.opens_at = from_ms(0);  // unreadable, it must not put closes_at in the wrong
    fields.instant("opens_at", sale.opens_at);
    fields.instant("closes_at", sale.closes_at);
    fields.duration("warm_before_s", sale.warm_before);
    read_stock_policy(fields, sale.stock_policy);
    fields.duration("payment_window_s", sale.payment_window);
    read_human_check(fields, sale.human_check);
    fields.number("pow_number_max", fields.optional("pow_number_max"), sale.pow_number_max);
    fields.number("purchases_per_second_max", fields.optional("purchases_per_second_max"),
                  sale.purchases_per_second_max);
    fields.number("buyers_per_address_max", fields.optional("buyers_per_address_max"),
                  sale.buyers_per_address_max);
    fields.duration("start_jitter_ms", sale.start_jitter);
    read_items(fields.required("items"), sale, reading.faults);

    std::vector<Fault> contradictions = faults_of(sale);
    std::erase_if(contradictions,
                  [&](const Fault& fault) { return is_reported(reading.faults, fault.pointer); });
    reading.faults.insert(reading.faults.end(), contradictions.begin(), contradictions.end());
    return reading;
}

void check_end(SaleReading& reading, Instant now) {
    if (reading.sale.closes_at > now || is_reported(reading.faults, "/closes_at")) return;
    reading.faults.push_back({"/closes_at", "is over already"});
}

}  // namespace

SaleReading read_sale(const json::value& value, Instant now) {
    SaleReading reading = read_terms(value);
    check_end(reading, now);
    return reading;
}

SaleReading read_sale_patch(const Sale& current, const json::value& patch, Instant now) {
    if (!patch.is_object()) return read_terms(patch);
    json::object merged = sale_terms_json(current);
    for (const auto& field : patch.get_object()) {
        if (field.value().is_null()) {
            merged.erase(field.key());
        } else {
            merged[field.key()] = field.value();
        }
    }
    SaleReading reading = read_terms(merged);
    // A new title needs no new end: a draft may still wait for one, and a closed sale is refused by
    // its state.
    if (reading.sale.closes_at != current.closes_at || reading.state == SaleState::scheduled) {
        check_end(reading, now);
    }
    if (reading.sale.id != current.id && !is_reported(reading.faults, "/id")) {
        reading.faults.push_back({"/id", "cannot be changed"});
    }
    return reading;
}

}  // namespace doorbuster
