// The threads of C11 by those of POSIX, for builds with the thread sanitizer only.
//
// librdkafka starts its threads, and locks, by <threads.h>. The sanitizer of g++ 12 knows only the POSIX
// calls and does not see what the C library does by itself: a thread that it has not seen start crashes in
// it, and whatever is handed over under a lock that it has not seen would be a race. In a program that has
// these functions librdkafka calls them.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Start {
    thrd_start_t run;
    void* argument;
};

void* begin(void* handed_over) {
    const Start start = *std::unique_ptr<Start>(static_cast<Start*>(handed_over));
    return reinterpret_cast<void*>(static_cast<intptr_t>(start.run(start.argument)));
}

int result_of(int error) {
    switch (error) {
        case 0:
            return thrd_success;
        case ETIMEDOUT:
            return thrd_timedout;
        case EBUSY:
            return thrd_busy;
        case ENOMEM:
            return thrd_nomem;
        default:
            return thrd_error;
    }
}

// The C library has the same bytes in both.
pthread_mutex_t* posix(mtx_t* mutex) {
    static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
    return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* posix(cnd_t* condition) {
    static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t));
    return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

extern "C" {

// What librdkafka ends it ends by the last of counted references, atomics that the sanitizer does not see.
// These are the whole names of the two calls, as the sanitizer itself has them (it shows them without their
// beginning): a function of ours whose name has "free" in it is judged. So is whatever operator delete ends,
// and a shared_mutex has nothing to destroy. Unseen stays a block that C code frees, or Asio, which does so
// with the memory of its handlers, while another thread may still use it.
const char* __tsan_default_suppressions() {
    return "race_top:^__interceptor_pthread_rwlock_destroy$\nrace_top:^__interceptor_free$\n";
}

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
    auto start = std::make_unique<Start>(Start{run, argument});
    const int error = pthread_create(thread, nullptr, begin, start.get());
    if (error == 0) start.release();
    return result_of(error);
}
int thrd_join(thrd_t thread, int* result) {
    void* returned = nullptr;
    const int error = pthread_join(thread, &returned);
    if (error == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(returned));
    return result_of(error);
}

int mtx_init(mtx_t* mutex, int type) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    const int error = pthread_mutex_init(posix(mutex), &kind);
    pthread_mutexattr_destroy(&kind);
    return result_of(error);
}
int mtx_lock(mtx_t* mutex) {
    return result_of(pthread_mutex_lock(posix(mutex)));
}
int mtx_unlock(mtx_t* mutex) {
    return result_of(pthread_mutex_unlock(posix(mutex)));
}
void mtx_destroy(mtx_t* mutex) {
    pthread_mutex_destroy(posix(mutex));
}

int cnd_init(cnd_t* condition) {
    return result_of(pthread_cond_init(posix(condition), nullptr));
}
int cnd_signal(cnd_t* condition) {
    return result_of(pthread_cond_signal(posix(condition)));
}
int cnd_broadcast(cnd_t* condition) {
    return result_of(pthread_cond_broadcast(posix(condition)));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
    return result_of(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
    return result_of(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) {
    pthread_cond_destroy(posix(condition));
}

}  // extern "C"
