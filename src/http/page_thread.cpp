#include "http/page_thread.hpp"

#include <boost/json/serialize.hpp>

#include "base/threads.hpp"
#include "http/sale_json.hpp"

namespace doorbuster {

namespace {

PageDraft draft_of(const PageMaker& maker, const ListedSale& listed) {
    std::vector<std::string_view> items;
    for (const Item& item : listed.sale.items) items.push_back(item.name);
    return maker.sale({.title = listed.sale.title,
                       .items = std::move(items),
                       .json = boost::json::serialize(sale_json(listed, listed.state))});
}

}  // namespace

PageThread::PageThread(PageTerms terms, Show show) : maker_(std::move(terms)), show_(std::move(show)) {}

PageThread::~PageThread() {
    stop();
}

void PageThread::start() {
    auto put_draft = [&](const std::string& path, PageDraft draft) {
        put(path, {nullptr, std::make_shared<const Page>(page_of(std::move(draft)))});
    };
    put_draft("/", maker_.sales());
    put_draft("/orders", maker_.orders());
    put_draft(closed_path, maker_.closed());
    put_draft(missing_path, maker_.missing());
    thread_ = std::thread([this] { run(); });
}

void PageThread::stop() {
    std::vector<std::function<void()>> shown;
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        shown.swap(shown_);
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    for (const auto& tell : shown) tell();
}

void PageThread::follow(std::shared_ptr<const Catalogue> catalogue, std::function<void()> shown) {
    {
        std::lock_guard lock(mutex_);
        if (!stopping_) {
            catalogue_ = std::move(catalogue);
            shown_.push_back(std::move(shown));
            shown = nullptr;
        }
    }
    changed_.notify_one();
    if (shown) shown();
}

void PageThread::run() {
    set_thread_up("pages", -1);
    bool has_more = true;  // pages without brotli
    for (;;) {
        std::shared_ptr<const Catalogue> catalogue;
        std::vector<std::function<void()>> shown;
        {
            std::unique_lock lock(mutex_);
            if (!has_more) changed_.wait(lock, [this] { return !waits(); });
            if (stopping_) return;
            catalogue.swap(catalogue_);
            if (catalogue) shown.swap(shown_);
        }
        if (catalogue) show_changes(*catalogue);
        for (const auto& tell : shown) tell();
        has_more = add_small_forms();
    }
}

void PageThread::show_changes(const Catalogue& catalogue) {
    for (const auto& [id, listed] : catalogue.sales()) {
        const std::string path = "/sales/" + id;
        const auto known = made_.find(path);
        if (listed->state == SaleState::draft) {
            if (known == made_.end()) continue;
            made_.erase(known);
            show_(path, nullptr);
            continue;
        }
        if (known != made_.end() && known->second.listed == listed) continue;
        Page page = page_of(draft_of(maker_, *listed));
        if (known != made_.end() && known->second.page->plain.etag == page.plain.etag) {
            known->second.listed = listed;  // changed in nothing that a page shows
            continue;
        }
        put(path, {listed, std::make_shared<const Page>(std::move(page))});
    }
}

void PageThread::put(const std::string& path, Made made) {
    show_(path, made.page);
    made_.insert_or_assign(path, std::move(made));
}

bool PageThread::add_small_forms() {
    auto is_over = [](const Made& made) {
        return made.listed && phase_in(made.listed->state) == Phase::closed;
    };
    auto best = made_.end();
    for (auto entry = made_.begin(); entry != made_.end(); ++entry) {
        if (entry->second.page->brotli.is_made()) continue;
        if (best == made_.end() || (is_over(best->second) && !is_over(entry->second))) best = entry;
    }
    if (best == made_.end()) return false;
    put(best->first,
        {best->second.listed, std::make_shared<const Page>(with_small_forms(*best->second.page))});
    return true;
}

}  // namespace doorbuster
