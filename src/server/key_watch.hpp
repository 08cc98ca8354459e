// KeyWatch: follows the keys of the shop while the server runs, off every purchase's way.
//
// One thread looks at the file each second and fetches the URL when its time has come; what
// it finds is handed over as a whole new ring. It never waits for a token and no token waits
// for it.
//
// Thread safety: load, start and stop from the owner's thread; `changed` is called on its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/wakeup.hpp"
#include "server/key_fetch.hpp"
#include "server/key_keeper.hpp"

namespace doorbuster {

class KeyWatch {
public:
    using Changed = std::function<void(std::shared_ptr<const KeyRing>)>;
    static constexpr milliseconds look_every{1'000};

    // `own` are the keys that are there whatever the sources say: the server's secret.
    KeyWatch(KeySources sources, KeyRing own, Clock& clock, Changed changed);
    ~KeyWatch();

    // The keys to begin with; `changed` is not called for them. Fails if the file is unusable.
    // Takes up to KeyFetch::total_max if the URL does not answer, and then begins without its keys.
    [[nodiscard]] Result<std::shared_ptr<const KeyRing>, std::string> load();

    // Nothing to do without a source.
    void start();
    void stop();

private:
    void run();

    const bool has_sources_;
    Clock& clock_;
    const Changed changed_;
    KeyFetch fetch_;
    KeyKeeper keeper_;  // the thread's, once it runs

    Wakeup wakeup_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace doorbuster
