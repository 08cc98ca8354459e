#include "store_cluster/pg_journal.hpp"

#include "store/row_words.hpp"

namespace doorbuster::pg {

void Journal::tell(EventKind kind, const Subject& subject) {
    events_.kinds.push(name_of(kind));
    events_.sales.push(subject.sale);
    events_.orders.push(subject.order);
    events_.purchases.push(subject.purchase);
    events_.payments.push(subject.payment);
}

void Journal::stock_moved(StockMoveKind kind, const Units& units) {
    moves_.kinds.push(name_of(kind));
    moves_.sales.push(units.sale);
    moves_.items.push(units.item);
    moves_.purchases.push(units.purchase);
    moves_.units.push(units.units);
}

void Journal::release(std::string_view kind, const Units& units) {
    releases_.kinds.push(kind);
    releases_.sales.push(units.sale);
    releases_.items.push(units.item);
    releases_.purchases.push(units.purchase);
    releases_.units.push(units.units);
}

void Journal::queue(Connection& connection) const {
    if (events_.kinds.size() > 0) {
        connection.queue(
            "INSERT INTO events(kind, at_ms, sale, order_id, purchase, payment) "
            "SELECT kind, $1, sale, order_id, purchase, payment FROM unnest($2::text[], $3::text[], "
            "$4::bigint[], $5::uuid[], $6::bigint[]) WITH ORDINALITY "
            "AS t(kind, sale, order_id, purchase, payment, ordinal) ORDER BY ordinal",
            Params()
                .add(to_ms(now_))
                .add(events_.kinds)
                .add(events_.sales)
                .add(events_.orders)
                .add(events_.purchases)
                .add(events_.payments));
    }
    if (moves_.kinds.size() > 0) {
        connection.queue(
            "INSERT INTO stock_moves(kind, sale, item, purchase, units, at_ms, partition, position, epoch) "
            "SELECT kind, sale, item, purchase, units, $1, $2, "
            "coalesce((SELECT position FROM partition_offsets WHERE partition = $2), 0), "
            "coalesce((SELECT epoch FROM items i WHERE i.sale = t.sale AND i.id = t.item), 0) "
            "FROM unnest($3::text[], $4::text[], $5::text[], $6::uuid[], $7::bigint[]) WITH ORDINALITY "
            "AS t(kind, sale, item, purchase, units, ordinal) ORDER BY ordinal",
            Params()
                .add(to_ms(now_))
                .add(partition_)
                .add(moves_.kinds)
                .add(moves_.sales)
                .add(moves_.items)
                .add(moves_.purchases)
                .add(moves_.units));
    }
    if (releases_.sales.size() > 0) {
        connection.queue(
            "INSERT INTO releases(sale, item, epoch, purchase, units, made_at_ms, kind) "
            "SELECT t.sale, t.item, i.epoch, t.purchase, t.units, $1, t.kind "
            "FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::text[]) WITH ORDINALITY "
            "AS t(sale, item, purchase, units, kind, ordinal) "
            "JOIN items i ON i.sale = t.sale AND i.id = t.item ORDER BY t.ordinal",
            Params()
                .add(to_ms(now_))
                .add(releases_.sales)
                .add(releases_.items)
                .add(releases_.purchases)
                .add(releases_.units)
                .add(releases_.kinds));
    }
}

}  // namespace doorbuster::pg
