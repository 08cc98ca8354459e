/* The cluster's protocol: reserve, accept, sweep, order, release, rebuild, over a Redis that may roll
 * back, a Kafka that keeps its order, and a PostgreSQL that commits.
 *
 * What it proves, over every order of events (P1 to P5 of the design):
 *   - in PostgreSQL available + held == total, and an accepted record finds its unit;
 *   - every 202 becomes an order or an explicit cancellation, and one that was said under a valid
 *     lease lies before its SEAL;
 *   - after a yes the same key never hears "sold out" or "limit";
 *   - no buyer holds more than the limit;
 *   - when all is quiet, Redis has the stock, the ids and the rights that PostgreSQL has, nothing is
 *     left in the outbox, in Kafka or among the release rows, and the sale is open again.
 *
 * The rules, the flag that removes each (`./test model` expects every one to be caught), and who
 * keeps it. Where nobody is named the code is still to come.
 *   COMPENSATE           a produce that may have landed is never taken back: the gate's side of it
 *                        is RedisError::outcome_unknown, and that there is no such call in book.lua
 *   REPEAT_202           a repeat whose outbox entry is still there is produced again before its
 *                        202: `pending` of reserve in book.lua
 *   NO_LEASE_CHECK       the gate says 202 only while its lease holds
 *   XDEL_BLIND           done deletes an outbox entry only if it is that purchase's: done in
 *                        book.lua
 *   SEAL_FIRST           the worker looks into the inbox before it asks whether the epoch is
 *                        sealed: a late duplicate does not touch an order
 *   LATE_CANCEL          a late record is parked; it is cancelled only if the next epoch has not
 *                        taken the same id
 *   BLIND_DEC            an order takes its unit by a conditional update
 *   NO_PG_LIMIT          and PostgreSQL counts the buyer's units once more
 *   REL_EPOCH_PURCHASE   a release row carries the epoch of the stock row, not the purchase's
 *   RELAY_MARK_FENCED    the relay keeps a row that Redis fenced
 *   RELEASE_ANY_EPOCH    a release is applied under exactly its epoch: `fenced` in book.lua, called by
 *                        release in book_control.lua
 *   REINSTATE_PG         a finished purchase comes back only as a fresh one, through Redis
 *   RESTOCK_REDIS_FIRST  units are added in PostgreSQL first, and reach Redis by a row: restock in
 *                        book_control.lua, once per row and epoch
 *   NO_SEAL              a rebuild waits until the workers have passed SEAL in Kafka
 *   TAKEOVER_UNMARKED    a coordinator that takes over moves the epoch first
 *   LOAD_UNCHECKED       a load is refused unless the book that is there is older: load in
 *                        book_control.lua
 *   NO_IDS               a load brings every id, finished ones too: BookLoad::takes
 *
 * REACH1 and REACH2 are controls: each asserts that an end cannot be reached, and must fail.
 *
 * Sizes: NP purchases, UNITS units, NG gates, T0 to T3 times that each is submitted, XP orders that
 * end, PLANNED rebuilds without need, SWC crashes of the sweeper, MAXE the last epoch, KQ the room in
 * Kafka. Worlds: NO_ROLLBACK, a Redis that never loses anything; RESTOCK, a unit is added in
 * mid-sale; TWO_COORD, two coordinators; SPLIT_RESERVE, time passes between the gate's look at its
 * lease and Redis; ZOMBIE, a worker that was thought dead commits one record more without its offset,
 * which the inbox keeps harmless; WEAK_FENCE, a Redis whose rollback goes unnoticed (book.lua's pin
 * taken away): then the worker's rules alone must keep what matters, and with HARD only that is
 * asserted.
 */
#ifndef NP
#define NP 4              /* purchases; purchase 3 is buyer 0 again under a new id */
#endif
#define NB 3
#ifndef UNITS
#define UNITS 2
#endif
#define LIMIT 1
#ifndef NG
#define NG 1
#endif
#ifndef MAXE
#define MAXE 5
#endif
#ifndef KQ
#define KQ 3
#endif
#ifndef T0
#define T0 2              /* submissions of purchase 0 .. 3 */
#endif
#ifndef T1
#define T1 1
#endif
#ifndef T2
#define T2 1
#endif
#ifndef T3
#define T3 1
#endif
#ifndef XP
#define XP 1              /* cancellations/expiries */
#endif
#ifndef PLANNED
#define PLANNED 0         /* rebuilds without a rollback, or takeovers, per coordinator */
#endif
#ifndef SWC
#define SWC 1             /* sweeper crashes */
#endif
#define BUY(p) (((p)==3) -> 0 : (p))
#ifdef HARD
#define SOFT(x) skip
#else
#define SOFT(x) assert(x)
#endif
#define OPEN 0
#define REB  1

#ifdef WEAK_FENCE
#define FENCE 0
#else
#define FENCE rolled
#endif

/* Redis */
byte r_epoch=1, r_stock=UNITS;
byte r_st[NP];   /* 0 unknown 1 held 2 finished */
bit  r_out[NP];
byte r_buy[NB];
#ifdef WEAK_FENCE
byte r_next=1; byte r_seq[NP];
/* stale replica */
byte s_epoch, s_stock, s_next; byte s_st[NP]; byte s_seq[NP]; bit s_out[NP]; byte s_buy[NB];
#define SQ(p) r_seq[p]
#else
#define SQ(p) 0   /* strong fence: an id is taken at most once per epoch, (id,epoch) names the take */
#endif

#define REC 1
#define SEAL 2
chan kafka = [KQ] of { byte, byte, byte, byte };

/* PostgreSQL */
byte pg_avail=UNITS, pg_held=0;
byte in_st[NP];  /* 0 none 1 active order 2 cancelled, never an order 3 order ended */
byte in_ep[NP];
#ifdef WEAK_FENCE
byte in_sq[NP];
#define ISQ(p) in_sq[p]
#else
#define ISQ(p) 0
#endif
bit  late[NP];   /* parked late record */
byte rel[NP];    /* release row pending for epoch e */
byte pg_epoch=1, pg_state=OPEN, sealed=0;
bit  conflict;

byte total=UNITS;
#ifdef RESTOCK
byte rs; bit r_rs;
#endif
byte lease[NG];
byte tries[4];

/* ghosts */
byte told[NP];     /* epoch under which 202 was first said */
bit rolled;        /* Redis is not the pinned one */
bit everrolled;
byte i, h, c;

#define FENCED 0
#define NEW 1
#define PENDING 2
#define RECORDED 3
#define REFUSED 4

/* reserve in book.lua */
inline reserve(e,p,res,s) {
  if
  :: r_epoch != e || FENCE -> res = FENCED
  :: else ->
     if
     :: r_st[p] != 0 ->
        s = SQ(p);
        if :: r_out[p] -> res = PENDING :: else -> res = RECORDED fi
     :: else ->
        if
        :: r_buy[BUY(p)] >= LIMIT || r_stock == 0 -> res = REFUSED
        :: else ->
           r_out[p] = 1;
#ifdef WEAK_FENCE
           r_seq[p] = r_next; s = r_next; r_next++;
#endif
           r_stock--; r_buy[BUY(p)]++; r_st[p] = 1; res = NEW
        fi
     fi
  fi
}

/* done in book.lua */
inline xdel(e,p,s) {
  if
  :: r_epoch == e && !FENCE ->
#ifdef XDEL_BLIND
     i = 0;
     do :: i < NP -> if :: r_out[i] && r_seq[i]==s -> r_out[i]=0 :: else fi; i++ :: else -> break od; i = 0
#else
     if :: r_out[p] && SQ(p)==s -> r_out[p]=0 :: else fi
#endif
  :: else
  fi
}

inline take(p,e,s) {
  in_ep[p]=e;
#ifdef WEAK_FENCE
  in_sq[p]=s
#else
  skip
#endif
}

inline handle(p,e,s) {
  if
#ifdef SEAL_FIRST
  :: e <= sealed ->
     assert(in_st[p]!=1);                      /* a late duplicate must not cancel an order */
     if :: in_st[p]==0 -> late[p]=1 :: else fi
  :: e > sealed && in_st[p] != 0 ->
#else
  :: in_st[p] != 0 ->
#endif
     if
     :: in_ep[p]==e && ISQ(p)==s -> skip       /* replay */
     :: else ->                                /* same id, other take */
#ifndef WEAK_FENCE
        assert(!(told[p]==e && in_st[p]==2));  /* a yes under a valid lease is not cancelled */
#endif
#ifdef WEAK_FENCE
        if :: e==pg_epoch && pg_state==OPEN -> conflict = 1 :: else fi   /* an id is taken once per epoch: rolled back */
#else
        SOFT(e < pg_epoch || pg_state==REB)
#endif
     fi
  :: else ->
     if
     :: e <= sealed ->
        SOFT(told[p]!=e);                    /* lease rule: 202 under e implies before SEAL(e) */
#ifdef LATE_CANCEL
        in_st[p]=2; take(p,e,s)
#else
        late[p]=1
#endif
     :: else ->
        i = 0; h = 0; c = 0;
        do
        :: i < NP ->
           if :: in_st[i]==1 && BUY(i)==BUY(p) -> h++ :: else fi;
           if :: i != p && in_st[i] != 0 && in_ep[i]==e && ISQ(i)==s -> c = 1 :: else fi;
           i++
        :: else -> break
        od;
#ifdef WEAK_FENCE
        if :: c && e==pg_epoch && pg_state==OPEN -> conflict = 1 :: else fi;
#endif
        take(p,e,s); late[p]=0;
        if
#ifdef BLIND_DEC
        :: 1 -> pg_held++; in_st[p]=1; assert(pg_avail>0); pg_avail--
#else
#ifdef NO_PG_LIMIT
        :: pg_avail > 0 -> pg_avail--; pg_held++; in_st[p]=1; assert(h < LIMIT)
#else
        :: pg_avail > 0 && h < LIMIT -> pg_avail--; pg_held++; in_st[p]=1
#endif
        :: else ->                             /* explicit cancellation */
#ifdef WEAK_FENCE
           assert(everrolled);
#else
#ifdef HARD
           assert(!told[p]);
#else
           assert(0);                          /* an accepted purchase always finds its unit */
#endif
#endif
           in_st[p]=2;
           rel[p]=pg_epoch
#endif
        fi;
        i = 0; h = 0; c = 0
     fi
  fi;
  assert(pg_avail + pg_held == total)
}

proctype Gate(byte g) {
  byte p, e, s, res;
idle:
  atomic { p=0; e=0; s=0; res=0;
    if
    :: lease[g]==0 && pg_state==OPEN -> lease[g]=pg_epoch; goto idle
    :: lease[g]!=0 && tries[0]>0 -> p=0
    :: lease[g]!=0 && NP>1 && tries[1]>0 -> p=1
    :: lease[g]!=0 && NP>2 && tries[2]>0 && tries[1]<T1 -> p=2   /* buyers 1 and 2 are alike */
#if NP>3
    :: lease[g]!=0 && tries[3]>0 -> p=3
#endif
    fi;
    tries[p]--; e = lease[g];
#ifdef SPLIT_RESERVE
  }
  atomic {                                     /* the call reaches Redis later */
#endif
    reserve(e,p,res,s);
    if
    :: res==FENCED -> goto idle
    :: res==REFUSED ->
#ifdef WEAK_FENCE
       assert(!told[p] || everrolled);
#else
       SOFT(!told[p]);                       /* P5: after a yes never "sold out" or "limit" */
#endif
       goto idle
    :: res==RECORDED -> goto answer
#ifdef REPEAT_202
    :: res==PENDING -> goto answer
#else
    :: res==PENDING
#endif
    :: res==NEW
    fi;
  }
  if
  :: kafka!REC,p,e,s
  :: goto idle                                 /* killed, or produce timed out */
#ifdef COMPENSATE
  :: atomic { kafka!REC,p,e,s;                 /* landed, report lost: gate gives the unit back */
       if :: r_epoch==e && !FENCE && r_st[p]==1 -> r_st[p]=0; r_out[p]=0; r_stock++; r_buy[BUY(p)]-- :: else fi };
     goto idle
#endif
  fi;
answer:
  atomic {
    if
#ifdef NO_LEASE_CHECK
    :: 1 -> if :: told[p]==0 -> told[p]=e :: else fi
#else
    :: lease[g]==e -> if :: told[p]==0 -> told[p]=e :: else fi
    :: lease[g]!=e -> goto idle                /* 503 unknown */
#endif
    :: goto idle                               /* killed before the answer */
    fi;
#ifdef WEAK_FENCE
  }
  atomic {
#endif
    if
    :: xdel(e,p,s)
    :: skip                                    /* killed before XDEL */
    fi
  }
  goto idle
}

proctype Sweeper() {
  byte p, e, s; byte crash=SWC;
  do
  :: atomic {
       if
       :: r_out[0] && !FENCE -> p=0
       :: NP>1 && r_out[1] && !FENCE -> p=1
       :: NP>2 && r_out[2] && !FENCE -> p=2
#if NP>3
       :: r_out[3] && !FENCE -> p=3
#endif
       fi; e=r_epoch; s=SQ(p) }
     atomic {
       kafka!REC,p,e,s;
#ifdef WEAK_FENCE
     } atomic {
#endif
       if :: xdel(e,p,s) :: crash>0 -> crash-- fi;
       p=0; e=0; s=0 }
  od
}

proctype Worker() {
  byte t,p,e,s;
  do
  :: atomic { kafka?t,p,e,s;
       if
       :: t==SEAL ->
          if
          :: e > sealed -> sealed = e;
             i=0;
             do :: i<NP -> if :: late[i] -> late[i]=0; if :: in_st[i]==0 -> in_st[i]=2; in_ep[i]=0 :: else fi :: else fi; i++ :: else -> break od; i=0
          :: else
          fi
       :: t==REC -> handle(p,e,s)
       fi; t=0;p=0;e=0;s=0 }
  od
}

#ifdef ZOMBIE
proctype Zombie() {  /* a stale worker that read a record and commits it later, without the offset fence */
  byte t,p,e,s;
  if
  :: atomic { kafka?<t,p,e,s> -> t==REC } -> atomic { handle(p,e,s); t=0;p=0;e=0;s=0 }
  :: skip
  fi
}
#endif

proctype Expire() {
  byte n=XP, p;
  do
  :: atomic { n > 0 ->
       if
       :: in_st[0]==1 -> p=0
       :: NP>1 && in_st[1]==1 -> p=1
       :: NP>2 && in_st[2]==1 -> p=2
#if NP>3
       :: in_st[3]==1 -> p=3
#endif
       :: n=0; goto done
       fi;
       in_st[p]=3; pg_avail++; pg_held--; n--;
#ifdef REL_EPOCH_PURCHASE
       rel[p]=in_ep[p];
#else
       rel[p]=pg_epoch;
#endif
       p=0 }
  :: n==0 -> break
  od;
done: skip
}

#ifdef REINSTATE_PG
proctype Reinstate() { byte p;
  if
  :: atomic {
       if
       :: in_st[0]==3 && pg_avail>0 -> p=0
       :: NP>1 && in_st[1]==3 && pg_avail>0 -> p=1
       fi;
       in_st[p]=1; pg_avail--; pg_held++ }
  :: skip
  fi
}
#endif

/* release in book_control.lua */
proctype Relay() {
  byte p, e;
  do
  :: atomic {
       if
       :: rel[0]!=0 -> p=0
       :: NP>1 && rel[1]!=0 -> p=1
       :: NP>2 && rel[2]!=0 -> p=2
#if NP>3
       :: rel[3]!=0 -> p=3
#endif
       fi;
       e=rel[p] }
#if !defined(RELAY_MARK_FENCED) && !defined(RELEASE_ANY_EPOCH)
     /* FENCED: keep the row until Redis has its epoch, or a later rebuild has absorbed it */
     (r_epoch == e && !FENCE) || e < pg_epoch;
#endif
     atomic {
       if
#ifdef RELEASE_ANY_EPOCH
       :: !FENCE && r_epoch!=0 ->
#else
       :: r_epoch == e && !FENCE ->
#endif
          if :: r_st[p]==1 -> r_st[p]=2; r_stock++; r_buy[BUY(p)]-- :: else fi;
          if :: rel[p]==e -> rel[p]=0 :: skip fi      /* skip: killed before the mark, applied again later */
       :: else ->
#ifdef RELAY_MARK_FENCED
          if :: rel[p]==e -> rel[p]=0 :: else fi
#else
          if :: e < pg_epoch && rel[p]==e -> rel[p]=0 :: else fi
#endif
       fi;
       p=0; e=0 }
  od
}

proctype Coord(byte k) {
  byte e, a; byte st[NP];
  byte planned = PLANNED;
  do
  :: atomic {
     if
     :: pg_state==OPEN && (rolled || conflict) && pg_epoch+2 <= MAXE -> skip
     :: pg_state==OPEN && planned>0 && pg_epoch+2 <= MAXE -> planned--
#ifdef TWO_COORD
     :: pg_state==REB && planned>0 && pg_epoch+2 <= MAXE -> planned--   /* takes over from one thought dead */
#endif
     fi;
#ifdef TAKEOVER_UNMARKED
     if :: pg_state==OPEN -> pg_epoch++ :: else fi;        /* a takeover does not move the epoch */
#else
     pg_epoch++;                                           /* (1) moves once here: fences the old, and any other coordinator */
#endif
     pg_state=REB; conflict=0; e=pg_epoch }
     /* (2) leases lapse, (3) SEAL */
     atomic {
#ifndef NO_SEAL
       kafka!SEAL,0,e-1,0;                                /* closes every epoch <= e-1 */
#endif
       i=0; do :: i<NG -> if :: lease[i]<e -> lease[i]=0 :: else fi; i++ :: else -> break od; i=0 }
#ifndef NO_SEAL
     sealed >= e-1;                                        /* (4) */
#endif
     /* (5) the cut: one transaction under the lock of the stock row moves the epoch and reads the snapshot */
     atomic {
       if
       :: pg_epoch==e && pg_state==REB -> pg_epoch=e+1;   /* and once here */
       :: else -> goto lost
       fi;
       e=e+1; a=pg_avail; i=0;
       do :: i<NP -> st[i]=in_st[i]; i++ :: else -> break od; i=0 }
     /* (6) load in book_control.lua, (7) open */
     atomic {
       if
#ifndef LOAD_UNCHECKED
       :: r_epoch >= e -> skip                             /* refused: same or newer epoch is there */
       :: r_epoch < e ->
#else
       :: 1 ->
#endif
          r_epoch=e; r_stock=a; rolled=0; i=0;
#ifdef RESTOCK
          r_rs=0;
#endif
#ifdef WEAK_FENCE
          r_next=1;
#endif
          do :: i<NB -> r_buy[i]=0; i++ :: else -> break od; i=0;
          do
          :: i<NP ->
             r_out[i]=0;
#ifdef WEAK_FENCE
             r_seq[i]=0;
#endif
             if :: st[i]==1 -> r_buy[BUY(i)]++ :: else fi;
#ifdef NO_IDS
             r_st[i]=0;
#else
             if :: st[i]==0 -> r_st[i]=0 :: st[i]==1 -> r_st[i]=1 :: else -> r_st[i]=2 fi;
#endif
             i++
          :: else -> break
          od; i=0
       fi;
       if :: pg_epoch==e && pg_state==REB -> pg_state=OPEN :: else fi }
lost: atomic { i=0; do :: i<NP -> st[i]=0; i++ :: else -> break od; i=0; e=0; a=0 }
  od
}

#ifdef RESTOCK
/* one unit is added in mid-sale */
proctype Restock() {
  if
#ifdef RESTOCK_REDIS_FIRST
  :: atomic { r_epoch==pg_epoch && !FENCE && pg_state==OPEN -> r_stock++; r_rs=1 };
     atomic { total++; pg_avail++ }
#else
  :: atomic { total++; pg_avail++; rs=pg_epoch }
#endif
  :: skip
  fi
}
proctype RsRelay() { byte e;
  do
  :: atomic { rs!=0 -> e=rs };
     (r_epoch == e && !FENCE) || e < pg_epoch;
     atomic {
       if
       :: r_epoch == e && !FENCE ->
          if :: !r_rs -> r_rs=1; r_stock++ :: else fi;
          if :: rs=0 :: skip fi
       :: else -> if :: e < pg_epoch -> rs=0 :: else fi
       fi; e=0 }
  od
}
#endif

proctype Rollback() {
#ifdef WEAK_FENCE
  if
  :: d_step { s_epoch=r_epoch; s_stock=r_stock; s_next=r_next; i=0;
       do :: i<NP -> s_st[i]=r_st[i]; s_seq[i]=r_seq[i]; s_out[i]=r_out[i]; i++ :: else -> break od; i=0;
       do :: i<NB -> s_buy[i]=r_buy[i]; i++ :: else -> break od; i=0 }
  :: skip
  fi;
#endif
  if
  :: d_step { pg_epoch+2 <= MAXE ->
#ifdef WEAK_FENCE
       r_epoch=s_epoch; r_stock=s_stock; r_next=s_next; i=0;
       do :: i<NP -> r_st[i]=s_st[i]; r_seq[i]=s_seq[i]; r_out[i]=s_out[i]; s_st[i]=0; s_seq[i]=0; s_out[i]=0; i++ :: else -> break od; i=0;
       do :: i<NB -> r_buy[i]=s_buy[i]; s_buy[i]=0; i++ :: else -> break od; i=0;
       s_epoch=0; s_stock=0; s_next=0;
#else
       /* nobody uses a Redis that is not the pinned one, so its content does not matter */
       r_epoch=0; r_stock=0; i=0;
#ifdef RESTOCK
       r_rs=0;
#endif

       do :: i<NP -> r_st[i]=0; r_out[i]=0; i++ :: else -> break od; i=0;
       do :: i<NB -> r_buy[i]=0; i++ :: else -> break od; i=0;
#endif
       rolled=1; everrolled=1 }
  :: skip
  fi
}

proctype Judge() {
  timeout ->
  atomic {
    assert(empty(kafka));
    assert(pg_state==OPEN);
    assert(!rolled);
    assert(r_epoch==pg_epoch);
    i=0;
    do
    :: i<NP ->
       assert(!told[i] || in_st[i]!=0);        /* P3 */
       assert(r_out[i]==0);
       assert(rel[i]==0);
#ifndef NO_IDS
       SOFT((r_st[i]==1) == (in_st[i]==1));
#endif
       i++
    :: else -> break
    od; i=0;
    SOFT(r_stock==pg_avail);                 /* P2 */
    do
    :: i<NB ->
       h=0; c=0; do :: c<NP -> if :: BUY(c)==i && in_st[c]==1 -> h++ :: else fi; c++ :: else -> break od;
       assert(h<=LIMIT);                       /* P4 */
       SOFT(r_buy[i]==h); i++
    :: else -> break
    od; i=0; h=0; c=0
#ifdef REACH1
#define REACH (everrolled&&told[0]==1&&told[1]==3&&in_st[0]==3&&r_stock==1)
#endif
#ifdef REACH2
#define REACH (everrolled&&told[0]==3&&late[0]==0&&late[1]==1)
#endif
#ifdef REACH
    ; assert(!(REACH))
#endif
  }
}

init {
  atomic {
    i=0; do :: i<NG -> lease[i]=1; i++ :: else -> break od; i=0;
    tries[0]=T0; tries[1]=T1; tries[2]=T2; tries[3]=T3;
    run Gate(0);
#if NG>1
    run Gate(1);
#endif
    run Sweeper(); run Worker(); run Relay(); run Coord(0);
#if XP>0
    run Expire();
#endif
#ifdef TWO_COORD
    run Coord(1);
#endif
#ifndef NO_ROLLBACK
    run Rollback();
#endif
#ifdef ZOMBIE
    run Zombie();
#endif
#ifdef REINSTATE_PG
    run Reinstate();
#endif
#ifdef RESTOCK
    run Restock(); run RsRelay();
#endif
    run Judge()
  }
}
