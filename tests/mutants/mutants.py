"""One-line mistakes, each of which breaks a promise. Its judge has to find every one: the simulator, that of the
cluster for its protocol, or, for those of the embedded store, its own tests or the real server ended at its write
boundaries."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    right: str  # stands exactly once in the file
    wrong: str
    judge: str = "sim"  # or "cluster", "store", "boundary"


ANSWER_ALL = ("for (size_t i = 0; i < commands.size(); ++i) "
              "if (rests_on_commit(answers_[i].outcome)) reply(commands[i], Verdict::{verdict}, answers_[i]); "
              "flush_replies(); ")

MUTANTS = [
    Mutant("answer_before_the_commit", "src/shard/shard.cpp",
           "const StoreResult<void> appended = ledger_.append(accepted_);",
           ANSWER_ALL.format(verdict="decided") +
           "const StoreResult<void> appended = ledger_.append(accepted_); return appended;"),
    Mutant("refund_on_an_unknown_write", "src/shard/shard.cpp",
           "const Verdict verdict = appended.has_error() ? Verdict::unknown : Verdict::decided;",
           "const Verdict verdict = Verdict::decided; if (appended.has_error()) { for (size_t i = 0; i < "
           "accepted_.size(); ++i) entries_[static_cast<size_t>(changed_[i])]->book.release("
           "accepted_[i].acceptance.purchase); " + ANSWER_ALL.format(verdict="unknown") + "return {}; }"),
    Mutant("sold_out_before_the_commit", "src/shard/shard.cpp",
           "bool rests_on_commit(ReserveOutcome outcome) {",
           "bool rests_on_commit(ReserveOutcome outcome) { if (outcome == ReserveOutcome::sold_out) return false;"),
    Mutant("the_clock_may_run_back", "src/shard/shard.cpp",
           "last_now_ = std::max(now, last_now_);", "last_now_ = now;"),
    Mutant("a_release_is_forgotten", "src/shard/shard.cpp",
           "if (entry == nullptr || !entry->book.release(release.purchase)) return;", "if (entry != nullptr) return;"),
    Mutant("the_rebuild_forgets_ended_purchases", "src/shard/shard.cpp",
           "entry->book.restore(purchase.acceptance, purchase.hold);",
           "if (purchase.hold != HoldState::finished) entry->book.restore(purchase.acceptance, purchase.hold);"),
    Mutant("the_rebuild_forgets_the_ledger", "src/shard/rebuild.cpp",
           "for (const LedgerRecord& record : *records) shard.restore(record);", ""),
    Mutant("half_a_rebuild_is_taken_for_a_whole_one", "src/shard/rebuild.cpp",
           "if (!visited) return visited.error();", ""),
    Mutant("a_stop_does_not_hurry", "src/orders/worker.hpp",
           "void hurry() {", "void hurry() { return;"),
    Mutant("dedupe_after_deduct", "src/sale/book.cpp",
           "if (const Hold* own = find(command.purchase)) {",
           "if (const Hold* own = find(command.purchase)) { if (stock_.units_available >= command.units) "
           "{ stock_.units_available -= command.units; stock_.units_held += command.units; }"),
    Mutant("a_released_unit_returns_twice", "src/sale/book.cpp",
           "if (found == by_purchase_.end() || at(found->second).state == HoldState::finished) return false;",
           "if (found == by_purchase_.end()) return false;"),
    Mutant("the_limit_is_not_part_of_the_decision", "src/sale/book.cpp",
           "if (active + command.units > terms_.units_per_buyer_max) {",
           "if (command.units > terms_.units_per_buyer_max) {"),
    Mutant("a_release_keeps_the_buyers_right", "src/sale/book.cpp",
           "take_right(found->second);", ""),
    Mutant("a_key_forgets_its_quantity", "src/sale/book.cpp",
           "if (own->units != command.units || own->buyer != command.buyer) return {key_mismatch};", ""),
    Mutant("the_sold_out_flag_is_never_cleared", "src/sale/board.hpp",
           "if ((flag & 1) != (flags.sold_out ? 1 : 0))", "if (flags.sold_out && (flag & 1) == 0)"),
    Mutant("a_winner_who_repeats_is_a_stranger", "src/funnel/admission.hpp",
           "if (item.board->perhaps_accepted(id)) return Admission::pass;", ""),
    Mutant("a_restock_does_not_reach_the_book", "src/orders/sale_desk.cpp",
           "books_.control(RestockItem{entry.slots[i], units}, shown_then(entry, std::move(done)));",
           "shown_then(entry, std::move(done))();"),
    Mutant("order_ids_begin_anew_at_a_restart", "src/base/snowflake.hpp",
           "last_(position_of(last_id))", "last_(last_id * 0)"),
    Mutant("the_ledger_position_is_saved_before_the_orders", "src/store_sqlite/sqlite_orders.cpp",
           "move_position(expected_position, placements.back().record.position);",
           "move_position(expected_position, placements.back().record.position); transaction.commit(); "
           "connection_.execute(\"BEGIN IMMEDIATE\");", judge="boundary"),

    # Money and time.
    Mutant("release_before_the_confirmed_void", "src/sale/order_life.cpp",
           "OrderMove move = step(order, {voiding});",
           "OrderMove move = step(order, {voiding}); release(move, reason_of_end(to));"),
    Mutant("a_void_is_believed_before_its_answer", "src/orders/payment_desk.cpp",
           "if (answer.view) ruling = rule_on(order, payment, *answer.view);",
           "if (asked.ask == ProviderAsk::take_back) ruling = rule_on(order, payment, {.state = ProviderState::voided}); "
           "else if (answer.view) ruling = rule_on(order, payment, *answer.view);"),
    Mutant("a_late_capture_is_dropped", "src/sale/order_life.cpp",
           "if (has_ended(order.state)) {", "if (has_ended(order.state)) return {}; else if (false) {"),
    Mutant("a_second_capture_is_kept", "src/sale/order_life.cpp",
           ".payment = surplus};  // somebody else's capture pays for it, or it is over",
           ".payment = captured(payment, view, PaymentState::captured)};"),
    Mutant("underpaid_is_paid", "src/sale/order_life.cpp",
           "view.captured_minor == payment.amount_minor && view.captured_currency == payment.currency;",
           "view.captured_currency == payment.currency;"),
    Mutant("a_voided_attempt_is_not_watched", "src/orders/look_schedule.cpp",
           "if (view && is_watched_enough(payment.looks)) payment.look_at.reset();", "payment.look_at.reset();"),
    Mutant("the_book_does_not_hear_of_payments", "src/orders/payment_desk.cpp",
           "commands.push_back(SellPurchase{after.sale, after.item, after.holder});", ""),
    Mutant("an_event_is_forgotten", "src/sale/order_life.cpp",
           "move.events = {EventKind::order_paid};", "move.events = {};"),
    Mutant("events_are_taken_without_being_delivered", "src/orders/notifier.cpp",
           "outbox_.take_events(count_max, is_delivering_, now);",
           "outbox_.take_events(count_max, is_delivering_ && in_flight_.empty(), now);"),
    Mutant("an_event_is_written_after_the_transaction", "src/store_sqlite/sqlite_orders.cpp",
           "s.journal.tell(EventKind::order_created, {.sale = sale, .order = placement.order}, now);",
           "connection_.execute(\"COMMIT\"); connection_.execute(\"BEGIN IMMEDIATE\"); "
           "s.journal.tell(EventKind::order_created, {.sale = sale, .order = placement.order}, now);", judge="store"),
    Mutant("a_payment_takes_no_unit", "src/store/row_words.hpp",
           "return {-units, 0, units};", "return {0, 0, 0};", judge="store"),

    # The cluster's protocol.
    Mutant("a_202_before_the_kafka_report", "src/store_cluster/cluster_acceptor.cpp",
           "if (is_taken && verdict->is_pending) return produce(asked, *verdict);",
           "if (is_taken && verdict->is_pending) { answer_taken(asked, *verdict); return produce("
           "std::make_shared<const Asked>(Asked{asked->entry, [](const Outcome&) {}}), *verdict); }", judge="cluster"),
    Mutant("the_outbox_is_trimmed_before_the_report", "src/store_cluster/cluster_acceptor.cpp",
           "if (!bucket_->holds(verdict.take.epoch)) return asked->answered({Verdict::unknown});",
           "if (!bucket_->holds(verdict.take.epoch)) return asked->answered({Verdict::unknown});\n    "
           "durable_.push_back({{asked->entry.purchase, verdict.take.sequence}, verdict.take.epoch}); remove_soon();",
           judge="cluster"),
    Mutant("the_offset_moves_outside_the_transaction", "src/store_cluster/postgres_orders.cpp",
           "Transaction transaction(connection_);\n        outcomes = pg::Placing(connection_, place_, placements, now, "
           "locked).run_from(expected_position);",
           "{ Transaction first(connection_); pg::move_position(connection_, place_, expected_position, "
           "placements.back().record.position); first.commit(); } Transaction transaction(connection_); "
           "outcomes = pg::Placing(connection_, place_, placements, now, locked).run();", judge="cluster"),
    Mutant("a_rebuild_without_the_seal", "src/store_cluster/cluster_rebuild.cpp",
           "if (seals_->are_durable()) return Step::await_seals;", "return Step::cut;", judge="cluster"),
    Mutant("a_flag_that_a_sleeper_shows_does_not_end", "src/store_cluster/cluster_board.cpp",
           "std::min(looked_at_ + flags_last, bucket_->lease_ends_at()).count()",
           "(looked_at_ + std::chrono::hours(1)).count()", judge="cluster"),
    Mutant("a_yes_that_is_news_is_not_held_back", "src/store_cluster/cluster_acceptor.cpp",
           "if (!bucket_->is_news(verdict)) return", "return", judge="cluster"),
    Mutant("a_rebuild_does_not_wait_for_the_workers", "src/store_cluster/cluster_rebuild.cpp",
           "if (!*passed) return Step::await_seals;", "", judge="cluster"),
]
