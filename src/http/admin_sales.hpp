// AdminSales: the operator's verbs, over HTTP.
//
// Every change goes to the sale desk on the orders thread and is answered when it is
// recorded, told to the books and shown to the gates.
//
// Thread safety: its gate's thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "http/replies.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

class AdminSales {
public:
    AdminSales(Services& services, Replies& replies) : services_(services), replies_(replies) {}

    void set_catalogue(std::shared_ptr<const Catalogue> catalogue) { catalogue_ = std::move(catalogue); }

    void list(Exchange&);
    void show(Exchange&, std::string_view sale);
    void status(Exchange&, std::string_view sale);
    void create(Exchange&);
    void change(Exchange&, std::string_view sale);
    void act(Exchange&, std::string_view sale, SaleVerb);
    void restock(Exchange&, std::string_view sale);
    void rebuild(Exchange&, std::string_view sale);
    void show_books(Exchange&, std::string_view sale);  // how far it is

private:
    const ListedSale* find(Exchange&, std::string_view sale);

    // What If-Match says. Refuses and returns false if it is no version.
    bool read_version(Exchange&, const ListedSale&, bool required, std::optional<uint64_t>& into);

    SaleDesk::Done answer_with_sale(Exchange&, int status);
    // Refuses and returns false where the books are in no other place.
    bool has_books_elsewhere(Exchange&);

    Services& services_;
    Replies& replies_;
    std::shared_ptr<const Catalogue> catalogue_;
};

}  // namespace doorbuster
