#include "boundary/crash_vfs.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "boundary/disk.hpp"

namespace doorbuster::boundary {

namespace {

// What all files share. The callbacks of SQLite are plain functions, so it is global; it is
// never destroyed, because threads may still close files while the process exits.
struct Boundaries {
    CrashPlan plan;
    sqlite3_vfs* system = nullptr;

    // Held during every operation, so that a crash freezes them all.
    std::mutex mutex;
    Disk disk;
    uint64_t count = 0;
    std::map<std::string, uint64_t> count_of;  // "sync wal"
    std::string died_at;

    void write_report() const {
        std::FILE* file = std::fopen(plan.report.c_str(), "w");
        if (file == nullptr) return;
        std::string kinds;
        for (const auto& [kind, times] : count_of) {
            kinds += fmt::format("{}\"{}\":{}", kinds.empty() ? "" : ",", kind, times);
        }
        fmt::print(file, "{{\"count\":{},\"died_at\":\"{}\",\"kinds\":{{{}}}}}\n", count, died_at, kinds);
        std::fclose(file);
    }

    // Counts a boundary; true: the process is to end here.
    bool is_last(const char* operation, const char* kind) {
        const std::string name = fmt::format("{} {}", operation, kind);
        ++count;
        ++count_of[name];
        if (count != plan.at) return false;
        died_at = name;
        return true;
    }

    [[noreturn]] void die() const {
        if (plan.mode == CrashMode::power) disk.cut_power(plan.seed);
        write_report();
        ::kill(::getpid(), SIGKILL);
        for (;;) ::pause();
    }
};

Boundaries& boundaries() {
    static auto* const all = new Boundaries;
    return *all;
}

const char* kind_of(std::string_view path) {
    return path.ends_with("-wal") ? "wal" : path.ends_with("-journal") ? "journal" : "db";
}

// SQLite makes room for this and, behind it, the system's file.
struct File {
    sqlite3_file base;
    Content* content;  // null: a nameless temporary file, which no crash concerns
    const char* kind;
    bool syncs_folder;  // with its next sync

    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& of(sqlite3_file* file) {
    return *reinterpret_cast<File*>(file);
}

sqlite3_file* real(sqlite3_file* file) {
    return of(file).real();
}

int close_file(sqlite3_file* file) {
    const std::lock_guard lock(boundaries().mutex);
    return real(file)->pMethods->xClose(real(file));
}

int read_file(sqlite3_file* file, void* bytes, int amount, sqlite3_int64 offset) {
    const std::lock_guard lock(boundaries().mutex);
    return real(file)->pMethods->xRead(real(file), bytes, amount, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int amount, sqlite3_int64 offset) {
    auto& all = boundaries();
    const std::lock_guard lock(all.mutex);
    const auto write = [&](int size) {
        return real(file)->pMethods->xWrite(real(file), bytes, size, offset);
    };
    if (of(file).content == nullptr) return write(amount);
    if (all.is_last("write", of(file).kind)) {
        if (all.plan.mode == CrashMode::half) write(amount / 2);
        all.die();
    }
    const int code = write(amount);
    if (code == SQLITE_OK) {
        of(file).content->write(static_cast<size_t>(offset),
                                {static_cast<const char*>(bytes), static_cast<size_t>(amount)});
    }
    return code;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    auto& all = boundaries();
    const std::lock_guard lock(all.mutex);
    if (of(file).content != nullptr) {
        if (all.is_last("truncate", of(file).kind)) all.die();
        of(file).content->truncate(static_cast<size_t>(size));
    }
    return real(file)->pMethods->xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int) {
    auto& all = boundaries();
    const std::lock_guard lock(all.mutex);
    if (of(file).content == nullptr) return SQLITE_OK;
    if (all.is_last("sync", of(file).kind)) all.die();
    if (all.plan.ignores_sync) return SQLITE_OK;
    of(file).content->sync();
    if (of(file).syncs_folder) all.disk.sync_folder();
    of(file).syncs_folder = false;
    return SQLITE_OK;
}

int delete_file(sqlite3_vfs*, const char* path, int sync_folder) {
    auto& all = boundaries();
    const std::lock_guard lock(all.mutex);
    if (all.is_last("delete", kind_of(path))) all.die();
    const int code = all.system->xDelete(all.system, path, 0);
    if (code == SQLITE_OK) {
        all.disk.remove(path);
        if (sync_folder != 0 && !all.plan.ignores_sync) all.disk.sync_folder();
    }
    return code;
}

// The operations that leave the file's bytes alone go straight through.
int file_size(sqlite3_file* file, sqlite3_int64* size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) {
    return real(file)->pMethods->xLock(real(file), level);
}
int unlock_file(sqlite3_file* file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
}
int check_reserved_lock(sqlite3_file* file, int* is_held) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_held);
}
int file_control(sqlite3_file* file, int operation, void* argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file) {
    return real(file)->pMethods->xSectorSize(real(file));
}
int device_characteristics(sqlite3_file* file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
// Shared memory is rebuilt from the log after every crash.
int shm_map(sqlite3_file* file, int page, int page_bytes, int extends, void volatile** at) {
    return real(file)->pMethods->xShmMap(real(file), page, page_bytes, extends, at);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) {
    real(file)->pMethods->xShmBarrier(real(file));
}
int shm_unmap(sqlite3_file* file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

// Version 2 has no memory mapping, so that no byte passes by unseen.
constexpr sqlite3_io_methods methods{.iVersion = 2,
                                     .xClose = close_file,
                                     .xRead = read_file,
                                     .xWrite = write_file,
                                     .xTruncate = truncate_file,
                                     .xSync = sync_file,
                                     .xFileSize = file_size,
                                     .xLock = lock_file,
                                     .xUnlock = unlock_file,
                                     .xCheckReservedLock = check_reserved_lock,
                                     .xFileControl = file_control,
                                     .xSectorSize = sector_size,
                                     .xDeviceCharacteristics = device_characteristics,
                                     .xShmMap = shm_map,
                                     .xShmLock = shm_lock,
                                     .xShmBarrier = shm_barrier,
                                     .xShmUnmap = shm_unmap,
                                     .xFetch = nullptr,
                                     .xUnfetch = nullptr};

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* flags_out) {
    auto& all = boundaries();
    const std::lock_guard lock(all.mutex);
    File& opened = of(file);
    opened.base.pMethods = nullptr;  // SQLite's sign of a failed open
    opened.content = path == nullptr ? nullptr : &all.disk.open(path);
    opened.kind = path == nullptr ? "" : kind_of(path);
    // As SQLite's unix layer does it: the first sync of a new log or journal syncs the folder.
    constexpr int logs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    opened.syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & logs) != 0;
    const int code = all.system->xOpen(all.system, path, opened.real(), flags, flags_out);
    if (code == SQLITE_OK) opened.base.pMethods = &methods;
    if (code != SQLITE_OK && path != nullptr && ::access(path, F_OK) != 0) all.disk.remove(path);
    return code;
}

const char* setting(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::optional<CrashPlan> plan_from_environment() {
    CrashPlan plan;
    plan.report = setting("CRASH_REPORT");
    if (plan.report.empty()) return std::nullopt;
    plan.at = std::strtoull(setting("CRASH_AT"), nullptr, 10);
    plan.seed = std::strtoull(setting("CRASH_SEED"), nullptr, 10);
    plan.ignores_sync = std::string_view(setting("CRASH_IGNORE_SYNC")) == "1";
    const std::string_view mode = setting("CRASH_MODE");
    if (mode == "half") plan.mode = CrashMode::half;
    if (mode == "power") plan.mode = CrashMode::power;
    return plan;
}

void install_crash_vfs(const CrashPlan& plan) {
    auto& all = boundaries();
    all.plan = plan;
    all.system = sqlite3_vfs_find(nullptr);
    // A copy: what does not concern the files' bytes stays the system's.
    static sqlite3_vfs layer = *all.system;
    layer.zName = "crash";
    layer.szOsFile = static_cast<int>(sizeof(File)) + all.system->szOsFile;
    layer.xOpen = open_file;
    layer.xDelete = delete_file;
    sqlite3_vfs_register(&layer, 1);
    std::atexit([] {
        const std::lock_guard lock(boundaries().mutex);
        boundaries().write_report();
    });
}

}  // namespace doorbuster::boundary
