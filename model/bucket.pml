/* Two buckets of one item: pull transfers, crashes, a rebuild, and when "sold out" may be said. There is
 * one bucket so far (BookBucket::bucket), so no code does this yet.
 *
 * What it proves: no unit is lost or doubled by a transfer, and whoever hears "sold out" asked at a
 * time when there was an instant without a free unit (P1, P2).
 *
 * The rules, and the flag that removes each (`./test model` expects every one to be caught):
 *   NO_PENDING          a debit leaves a pending entry at the donor
 *   NO_TRANSFER_EPOCH   a credit is refused in another epoch
 *   NAIVE               "sold out" needs two passes over all buckets with stock 0, nothing pending
 *                       and equal increase counters
 *
 * Sizes: UNITS units, CALLS calls of each gate; NO_RELEASE, NO_REBUILD leave one of them out.
 */
#define NT 3              /* transfer ids */
#ifndef UNITS
#define UNITS 2
#endif
#ifndef CALLS
#define CALLS 2           /* calls per gate */
#endif
byte st[2];               /* stock */
byte mv[2];               /* increases of the stock, counted */
byte ep[2];               /* epoch of the bucket */
byte pn[NT];              /* pending at the donor: units (0 none) */
byte pe[NT];              /* epoch of the transfer */
byte pd[NT];              /* donor */
bit  ap[NT];              /* applied at the receiver (this epoch) */
byte next;                /* next transfer id */
byte epoch = 1;           /* PostgreSQL */
byte sold;                /* PostgreSQL + in flight: accepted units of any epoch */
byte relu = 1;            /* one release of a sold unit */
bit  z[2];                /* ghost: during gate g's call there was an instant with nothing free */
bit  openn = 1;
byte t;
inline pendsum(x) { x = 0; t = 0; do :: t < NT -> if :: pe[t]==epoch && !ap[t] -> x = x + pn[t] :: else fi; t++ :: else -> break od; t = 0 }
inline ghost() { 
  pendsum(gs);
  if :: st[0]+st[1]+gs==0 -> z[0]=1; z[1]=1 :: else fi; 
  if :: openn -> assert(st[0]+st[1]+gs+sold == UNITS) :: else fi;
  gs = 0 }
byte gs;
inline pendof(b,e,x) { x = 0; t = 0; do :: t < NT -> if :: pd[t]==b && pe[t]==e && !ap[t] -> x = x + pn[t] :: else fi; t++ :: else -> break od; t = 0 }

proctype Gate(byte g) {
  byte n = CALLS, home, e, tid, k, m0, m1; bit p2;
  do
  :: n > 0 ->
     atomic { n--; openn; e = epoch; z[g]=0; if :: home=0 :: home=1 fi; ghost() }
again:
     atomic {
       if
       :: ep[home]!=e -> goto out                        /* FENCED */
       :: ep[home]==e && st[home]>0 -> st[home]--; if :: epoch==e -> sold++ :: else fi; ghost(); goto out
       :: else
       fi }
     /* pull: debit the other bucket */
     atomic {
       if
       :: ep[1-home]!=e -> goto out
       :: ep[1-home]==e && st[1-home]>0 && next<NT ->
          tid = next; next++; k = st[1-home]; st[1-home]=0;
#ifndef NO_PENDING
          pn[tid]=k; pe[tid]=e; pd[tid]=1-home;
#endif
          ghost()
       :: ep[1-home]==e && st[1-home]>0 && next>=NT -> goto out
       :: ep[1-home]==e && st[1-home]==0 -> goto decide
       fi }
     if :: skip :: goto out fi;                           /* killed after debit */
     atomic {                                             /* credit */
       if
#ifndef NO_TRANSFER_EPOCH
       :: ep[home]!=e -> goto out
#endif
       :: else -> if :: !ap[tid] -> ap[tid]=1; st[home]=st[home]+k; mv[home]++; pn[tid]=0; ghost() :: else fi
       fi }
     goto again;
decide:
#ifdef NAIVE
     atomic { if :: epoch!=e -> goto out :: else fi; assert(z[g]); goto out };
#else
     /* two equal passes: stock 0, nothing pending, no increase in between */
     atomic { pendof(0,e,k); if :: st[0]>0 || k>0 || ep[0]!=e -> k=0; goto out :: else -> m0=mv[0] fi; k=0 };
     atomic { pendof(1,e,k); if :: st[1]>0 || k>0 || ep[1]!=e -> k=0; goto out :: else -> m1=mv[1] fi; k=0 };
     atomic { if :: st[0]>0 || mv[0]!=m0 || ep[0]!=e -> goto out :: else fi };
     atomic { if :: st[1]>0 || mv[1]!=m1 || ep[1]!=e || epoch!=e -> goto out :: else fi; assert(z[g]) };
#endif
out: atomic { home=0; e=0; tid=0; k=0; m0=0; m1=0 }
  :: n==0 -> break
  od
}

proctype Sweep() {  /* finishes half-done transfers */
  byte i;
  do
  :: atomic { 
       if :: pn[0]>0 && !ap[0] && pe[0]==ep[0] -> i=0 
          :: pn[1]>0 && !ap[1] && pe[1]==ep[0] -> i=1 
          :: pn[2]>0 && !ap[2] && pe[2]==ep[0] -> i=2 fi }
     atomic {
       if :: pe[i]==ep[1-pd[i]] && !ap[i] && pn[i]>0 -> ap[i]=1; st[1-pd[i]] = st[1-pd[i]] + pn[i]; mv[1-pd[i]]++; pn[i]=0; ghost()
          :: else fi; i=0 }
  od
}

proctype Release() {
  if :: atomic { sold>0 && openn && relu>0 -> sold--; relu--; if :: st[0]++; mv[0]++ :: st[1]++; mv[1]++ fi; ghost() } :: skip fi
}

proctype Rebuild() {
  byte a;
  if
  :: atomic { openn=0; epoch=2 }
     /* leases lapse, SEAL reached: PostgreSQL has one figure: UNITS - sold */
     atomic { a = UNITS - sold; ep[0]=2; st[0]=a/2; mv[0]=0 }
     atomic { ep[1]=2; st[1]=a-a/2; mv[1]=0; 
       a=0; do :: a<NT -> pn[a]=0; a++ :: else -> break od; a=0; openn=1 }
  :: skip
  fi
}

proctype Judge() { timeout -> atomic { assert(st[0]+st[1]+sold==UNITS) } }

init { atomic { ep[0]=1; ep[1]=1; st[1]=UNITS; run Gate(0); run Gate(1); run Sweep();
#ifndef NO_RELEASE
 run Release();
#endif
#ifndef NO_REBUILD
 run Rebuild();
#endif
 run Judge() } }
