// PageThread: makes the buyers' pages when the sales change, so that a hit costs a copy.
//
// Every sale that the public may know of has a page. A new or changed one is there, plain and
// gzipped, when `shown` is called; the smallest forms, which take a third of a second each, follow,
// sales that are on or to come first. The pages that are no sale's are made at the start.
//
// Bound: one page per sale, about 70 KB.
//
// Thread safety: follow from any thread; the rest from one.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "page/page_maker.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

class PageThread {
public:
    // Puts a page in its place, by its path; none takes it away. Called on the thread, and by `start`.
    using Show = std::function<void(const std::string& path, std::shared_ptr<const Page>)>;

    PageThread(PageTerms terms, Show show);
    ~PageThread();

    void start();
    void stop();  // what was followed and not made yet is not made; who waits for it is told all the same

    void follow(std::shared_ptr<const Catalogue> catalogue, std::function<void()> shown);

    // The page that answers in place of all others while nobody is let in.
    static constexpr const char* closed_path = "closed";
    // The one that answers where there is none.
    static constexpr const char* missing_path = "missing";

private:
    struct Made {
        std::shared_ptr<const ListedSale> listed;  // none: no sale's
        std::shared_ptr<const Page> page;
    };

    void run();
    void show_changes(const Catalogue& catalogue);
    void put(const std::string& path, Made made);
    bool add_small_forms();  // to the page that needs it most; false if none does
    bool waits() const { return !catalogue_ && !stopping_; }

    const PageMaker maker_;
    const Show show_;

    // The thread's, after start.
    std::map<std::string, Made> made_;  // by path

    // Guarded by the mutex.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const Catalogue> catalogue_;  // the newest, until it is taken up
    std::vector<std::function<void()>> shown_;
    bool stopping_ = false;

    std::thread thread_;
};

}  // namespace doorbuster
