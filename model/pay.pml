/* Payment against expiry: one order with two payment attempts, its timer, its buyer's
 * cancellation, a provider that is slow, loses messages and breaks its word, and one rival
 * who wants the same unit.
 *
 * What it proves, over every order of events (P1, P2 and P7 of the design):
 *   - the unit is at every instant available, held or sold, once;
 *   - what the book may still give is what the stock row has, less what is on the way;
 *   - when all is quiet, money and goods agree: the order is paid by exactly one full
 *     capture, or every capture has been refunded and the unit is back;
 *   - a payer is too late only by the provider's broken word, or by an attempt that was
 *     declined and, as far as the provider has told, left alone.
 *
 * The rules, and the flag that removes each (`./test model` expects every one to be caught):
 *   NO_VOID           expiry and cancellation void first: the unit goes back only in the
 *                     transaction that records the confirmed void
 *   TIMER_WINS        a timer never ends a paid order
 *   BLIND             every transaction is conditional on the state that the order has then,
 *                     not the one that was read before the provider was asked
 *   ORDER_LEVEL       payments have rows of their own: a second capture is refunded on its row
 *   DROP_LATE         a capture after the end is reinstated or refunded, never ignored
 *   LATE_UNASKED      a late capture asks the book for the unit
 *   NEW_ID            it asks under one id, kept: asking again after a crash takes no more
 *   NO_POLL           every payment is polled until final; webhooks get lost
 *   VOID_FINAL        a voided attempt is polled on: it may have been captured all the same
 *   HINT_BELIEVED     a webhook is a hint: what counts is what the provider says when asked
 *   UNDERPAID_PAYS    less than the price does not pay; it is refunded
 *   UNDERPAID_HOLDS   and the unit of an underpaid order goes back
 *   REFUND_ONCE       a refund is asked for until the provider has confirmed it
 *   REOPEN_UNSEEN     an attempt that was declined and is open again on the provider's page could be
 *                     paid at any moment: the order waits for it again, and ends only with its void
 *   REFUND_UNSEEN     money that the provider gave back by itself pays for nothing: the order that it
 *                     paid for is refunded, one that waited for it goes on as after a void
 *
 * REACH_… are controls: each asserts that an end cannot be reached, and must fail.
 *
 * With polling a webhook only moves the moment of asking, which is arbitrary here anyway, so
 * webhooks themselves exist only under NO_POLL and HINT_BELIEVED. After the close, the stock
 * row answers a late capture in the book's place; that is one step less of the same.
 */

mtype:order = { pending_payment, paying, voiding, paid, expired, cancelled, reinstating,
                refunding, refunded };
mtype:truth = { unknown, created, declined, captured, underpaid, voided, returned };
mtype:row   = { unused, open, asking, pays, to_refund, settled };

#define none 2

/* ---- orders.db ---- */
mtype:order order = pending_payment;
mtype:order ends_as = expired;      /* what a voiding or reinstating order becomes, or goes back to */
mtype:row row[2] = unused;          /* our record of each attempt */
byte begun = 0;                     /* attempts begun */
byte current = none;                /* the attempt that the order waits for, or that was voided; in
                                       pending_payment: that was declined */
#ifdef REOPEN_UNSEEN
bit told_open[2] = 0;               /* the provider said that a declined one is open again */
#endif
byte available = 0, held = 1, sold = 0;

/* ---- the ledger and the book ---- */
byte book_free = 0;                 /* units that the book may give */
byte releases = 0;                  /* committed, not yet told to the book */
bit again_in_ledger = 0;            /* the reinstatement: accepted by the book, not yet placed */
bit rival_in_ledger = 0, rival_placed = 0;
bit goods_gone = 0;                 /* refunded by the shop, and yet the unit stays sold */

/* ---- the provider ---- */
mtype:truth truth[2] = unknown;
bit requested[2] = 0;               /* the request to create it is in the network */
bit broke_word[2] = 0;              /* said voided, and yet it can be captured */
#ifdef NO_POLL
bit webhook[2] = 0;
#endif

/* The order's table of allowed steps, as src/sale/states.cpp has it. */
#define MAY_STEP(a, b) ( \
    (a == pending_payment && b == paying) || \
    (a == pending_payment && b == cancelled) || \
    (a == pending_payment && b == expired) || \
    (a == paying && b == paid) || \
    (a == paying && b == voiding) || \
    (a == paying && b == pending_payment) || \
    (a == paying && b == refunding) || \
    (a == voiding && b == expired) || \
    (a == voiding && b == cancelled) || \
    (a == voiding && b == paid) || \
    (a == expired && b == refunding) || \
    (a == cancelled && b == refunding) || \
    (a == expired && b == reinstating) || \
    (a == cancelled && b == reinstating) || \
    (a == reinstating && b == paid) || \
    (a == reinstating && b == expired) || \
    (a == reinstating && b == cancelled) || \
    (a == paid && b == refunding) || \
    (a == refunding && b == refunded))

/* The flags that break a step on purpose are to be caught by what follows from it. */
inline become(next) {
#if !defined(BLIND) && !defined(TIMER_WINS)
    assert(MAY_STEP(order, next));
#endif
    order = next
}

inline check_units() {
    assert(available + held + sold == 1);
    assert(available == book_free + releases + again_in_ledger + rival_in_ledger)
}

inline give_back() { assert(held > 0); held--; available++; releases++ }
inline sell() { assert(held > 0); held--; sold++ }

inline pay_with(k) { row[k] = pays; current = k }

#ifdef BLIND
#define STATE as_read
#else
#define STATE order
#endif

#ifdef UNDERPAID_PAYS
#define IS_FULL(answer) (answer == captured || answer == underpaid)
#else
#define IS_FULL(answer) (answer == captured)
#endif

/* The one transaction that records what the provider said of attempt k. */
inline record(k, answer) {
    if
    :: row[k] == open && IS_FULL(answer) ->
        if
        :: STATE == pending_payment -> become(paying); become(paid); pay_with(k); sell()
        :: STATE == paying || STATE == voiding -> become(paid); pay_with(k); sell()
        :: STATE == expired || STATE == cancelled ->
            /* Too late. A buyer who could still pay when the unit went back was wronged, unless
               the provider had confirmed that it was over. */
            assert(k != current || broke_word[k]);
#ifdef REOPEN_UNSEEN
            assert(!told_open[k] || broke_word[k]);
#endif
#if defined(DROP_LATE)
            row[k] = settled
#elif defined(LATE_UNASKED)
            if
            :: available > 0 -> become(reinstating); become(paid); pay_with(k); available--; sold++
            :: else -> become(refunding); row[k] = to_refund; current = k
            fi
#else
            become(reinstating); row[k] = asking; current = k
#endif
        :: else ->                                  /* another capture pays, or the order is over */
#ifdef ORDER_LEVEL
            row[k] = settled
#else
            row[k] = to_refund
#endif
        fi
    :: row[k] == open && answer == underpaid && !IS_FULL(answer) ->
        row[k] = to_refund;
        if
        :: STATE == paying && current == k ->
            become(refunding);
#ifndef UNDERPAID_HOLDS
            give_back()
#endif
        :: STATE == voiding && current == k ->
            become(ends_as); become(refunding);
#ifndef UNDERPAID_HOLDS
            give_back()
#endif
        :: STATE == expired || STATE == cancelled -> become(refunding); current = k
        :: else                                     /* another attempt may still pay, or does */
        fi
    :: row[k] == open && answer == declined && STATE == paying && current == k ->
        become(pending_payment)                     /* try again: on the same page, or anew */
    :: row[k] == open && answer == created && STATE == pending_payment && current == k ->
#ifdef REOPEN_UNSEEN
        told_open[k] = 1
#else
        become(paying)
#endif
    :: row[k] == open && answer == voided && STATE == paying && current == k ->
        become(pending_payment); current = none     /* try again */
    :: row[k] == open && answer == voided && STATE == voiding && current == k ->
        become(ends_as); give_back();
#ifdef VOID_FINAL
        row[k] = settled
#endif
    :: answer == returned && row[k] != settled && row[k] != asking ->
        /* asking: the book's answer comes first, then the money is looked at again */
        row[k] = settled;
        if
        :: STATE == refunding && current == k -> become(refunded)
#ifndef REFUND_UNSEEN
        /* captured and given back before anybody looked: as if it had been voided */
        :: STATE == paying && current == k -> become(pending_payment); current = none
        :: STATE == voiding && current == k -> become(ends_as); give_back()
        :: STATE == paid && current == k -> become(refunding); become(refunded); goods_gone = 1
#endif
        :: else
        fi
    :: else
    fi;
    check_units()
}

/* Begins an attempt where the order waits for none. A second call finds `paying`: the same
   attempt, the same key, sent once more. */
inline buyer() {
    if
    :: order == pending_payment && begun < 2 ->
        become(paying); current = begun; begun++; row[current] = open; requested[current] = 1
    :: order == paying && !requested[current] -> requested[current] = 1
    fi
}

/* The network, the provider, and the buyer on its page. */
inline provider(k) {
    if
    :: requested[k] ->
        requested[k] = 0;
        if
        :: truth[k] == unknown -> truth[k] = created
        :: skip                                     /* lost, or the key is cancelled */
        fi
    :: truth[k] == created -> truth[k] = declined
    :: truth[k] == declined -> truth[k] = created       /* the buyer tries again on its page */
    :: truth[k] == created -> truth[k] = voided         /* its page has a time limit of its own */
    :: truth[k] == created || truth[k] == declined ->   /* declined: another card, same page */
        if
        :: truth[k] = captured
        :: truth[k] = underpaid
        fi;
#ifdef NO_POLL
        if
        :: webhook[k] = 1
        :: skip                                     /* lost */
        fi
#endif
    :: truth[k] == voided -> truth[k] = captured; broke_word[k] = 1
    :: truth[k] == captured || truth[k] == underpaid -> truth[k] = returned     /* by hand, behind our back */
    fi
}

/* The shop's word: a paid order is refunded, and the goods come back or not. */
inline shop() {
    if
    :: order == paid ->
        become(refunding);
        if
        :: row[0] == pays -> row[0] = to_refund
        :: row[1] == pays -> row[1] = to_refund
        fi;
        if
        :: sold--; available++; releases++
        :: goods_gone = 1
        fi
    fi;
    check_units()
}

/* Wants the same unit, as soon as the book has one to give. */
inline rival() {
    if
    :: book_free > 0 && !rival_in_ledger && !rival_placed -> book_free--; rival_in_ledger = 1
    fi;
    check_units()
}

/* Everybody who need not act. `break`: they have done all that they ever will. */
proctype World() {
end:
    do
    :: atomic { buyer() }
    :: atomic { provider(0) }
    :: atomic { provider(1) }
    :: atomic { shop() }
    :: atomic { rival() }
    :: break
    od
}

/* What asking would bring to light. */
#ifdef NO_POLL
#define NEWS(k) webhook[k]
#else
#define NEWS(k) ((row[k] == open && (truth[k] == captured || truth[k] == underpaid)) || \
                 (row[k] != unused && row[k] != settled && row[k] != asking && truth[k] == returned) || \
                 (row[k] == open && order == paying && current == k && \
                  (truth[k] == declined || truth[k] == voided)) || \
                 (row[k] == open && order == pending_payment && current == k && truth[k] == created))
#endif

/* Whom the order does not wait for is asked to let go: the attempt that an end waits for, and,
   where it can still be captured, any other of an order that is paid or over. */
#define TO_TAKE_BACK(k) (row[k] == open && \
    ((order == voiding && current == k) || \
     (order != pending_payment && order != paying && (truth[k] == created || truth[k] == declined))))

/* Voids at the provider. A capture stays one: a void never refunds. */
inline take_back(k, answer) {
    if
    :: truth[k] == created || truth[k] == declined -> truth[k] = voided
    :: truth[k] == unknown -> truth[k] = voided     /* the mark: a late request finds the key cancelled */
    :: truth[k] == unknown -> broke_word[k] = 1     /* no mark is left, yet it says voided */
    :: else
    fi;
    answer = (truth[k] == unknown -> voided : truth[k])
}

/* On a hint, or by polling: asks the provider, then one transaction; time passes in between. */
proctype Asker() {
    byte k;
    mtype:truth answer = unknown;
#ifdef BLIND
    mtype:order as_read = pending_payment;
#endif
end:
    do
    :: atomic {
        if
        :: NEWS(0) -> k = 0; answer = truth[0]
        :: NEWS(1) -> k = 1; answer = truth[1]
        :: TO_TAKE_BACK(0) -> k = 0; take_back(0, answer)
        :: TO_TAKE_BACK(1) -> k = 1; take_back(1, answer)
#ifdef HINT_BELIEVED
        :: row[0] == open -> k = 0; answer = captured   /* forged, or of another time */
#endif
        fi;
#ifdef NO_POLL
        webhook[k] = 0;
#endif
#ifdef BLIND
        as_read = order;
#endif
        skip }
       atomic {
        if
        :: record(k, answer)
        :: skip                                     /* the answer was lost, or killed in between */
        fi;
#ifdef BLIND
        as_read = pending_payment;
#endif
        k = 0; answer = unknown }
    od
}

/* Expiry and the buyer's cancellation: the same way, another name at the end. */
inline choose_end() {
    if
    :: ends_as = expired                            /* the payment window is over */
    :: ends_as = cancelled                          /* the buyer's word */
    fi
}
proctype Ending() {
end:
    do
    :: atomic { order == pending_payment ->             /* it waited for nobody */
        choose_end(); become(ends_as); current = none; give_back(); check_units() }
    :: atomic { order == paying -> choose_end(); become(voiding);
#ifdef NO_VOID
        become(ends_as); give_back(); check_units()
#endif
       }
#ifdef TIMER_WINS
    :: atomic { order == paid -> become(expired); sold--; available++; releases++; check_units() }
#endif
    od
}

/* A late capture asks the book; what it gives goes through the ledger as any purchase. */
proctype Reinstate() {
    bit no_unit = 0;
end:
    do
#ifdef NEW_ID
    :: atomic { order == reinstating ->
#else
    :: atomic { order == reinstating && !again_in_ledger ->     /* in the ledger: it is repeated, not taken */
#endif
        if
        :: book_free > 0 -> book_free--; again_in_ledger = 1
        :: else -> no_unit = 1
        fi }
       atomic {
        if
        :: no_unit && order == reinstating ->
            become(ends_as); become(refunding);
            if
            :: row[0] == asking -> row[0] = to_refund
            :: row[1] == asking -> row[1] = to_refund
            fi
        :: else
        :: skip                                     /* killed in between: asks again */
        fi;
        no_unit = 0 }
    od
}

/* The order worker places what the book accepted; the relay tells the book what came back. */
proctype Worker() {
end:
    do
    :: atomic { again_in_ledger ->
        again_in_ledger = 0;
        assert(order == reinstating);               /* a yes of the book finds its order waiting */
#ifdef REACH_REINSTATED
        assert(false);
#endif
        assert(available > 0); available--; sold++;
        become(paid);
        if
        :: row[0] == asking -> row[0] = pays
        :: row[1] == asking -> row[1] = pays
        fi;
        check_units() }
    :: atomic { rival_in_ledger ->
        rival_in_ledger = 0; rival_placed = 1;
        assert(available > 0); available--; sold++; check_units() }
    :: atomic { releases > 0 -> releases--; book_free++; check_units() }
    od
}

/* Asks for each refund until the provider has confirmed it; asking twice refunds once. */
inline refund(k) {
#ifdef REFUND_ONCE
    if
    :: row[k] == to_refund -> truth[k] = returned; row[k] = settled
    :: row[k] == to_refund -> row[k] = settled      /* the provider did not hear it */
    fi;
    if
    :: order == refunding && current == k -> become(refunded)
    :: else
    fi
#else
    if
    :: row[k] == to_refund && truth[k] != returned -> truth[k] = returned   /* heard of by asking */
    fi
#endif
}
proctype Refund() {
end:
    do
    :: atomic { refund(0) }
    :: atomic { refund(1) }
    od
}

/* When nobody can do anything more. */
proctype Judge() {
    byte k;
    timeout ->
    atomic {
        assert(order == paid || order == expired || order == cancelled || order == refunded);
        for (k : 0 .. 1) {
            /* Captured means paid or refunded. */
            assert((truth[k] == captured) == (row[k] == pays));
            assert(truth[k] != underpaid);
            assert(row[k] != asking && row[k] != to_refund)
        }
        /* Never both, never neither; and the goods follow the money. */
        assert((order == paid) == (row[0] == pays || row[1] == pays));
        assert(!(row[0] == pays && row[1] == pays));
        assert(sold == (order == paid -> 1 : 0) + rival_placed + goods_gone);
        assert(held == 0);
        assert(book_free == available);
#ifdef REACH_PAID
        assert(order != paid)
#endif
#ifdef REACH_EXPIRED
        assert(order != expired)
#endif
#ifdef REACH_CANCELLED
        assert(order != cancelled)
#endif
#ifdef REACH_REFUNDED
        assert(order != refunded)
#endif
    }
}

init {
    atomic {
        run World();
        run Asker(); run Asker();                   /* on a hint and by polling, at once */
        run Ending(); run Reinstate(); run Worker(); run Refund(); run Judge()
    }
}
