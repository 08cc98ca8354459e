// The admin interface's answers as tables.
//
// Tolerant: a field that is missing is shown as "-", so that an older command line can
// still talk to a newer server.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace doorbuster {

std::string sale_list_table(const boost::json::object& answer);
std::string sale_table(const boost::json::object& sale);
std::string status_table(const boost::json::object& status);

// "sale 'phone-drop' is open (version 4)"
std::string sale_sentence(const boost::json::object& sale);

// What keeps a sale from being ready and how to mend it, in lines; empty where there is nothing.
std::string warm_up_text(const boost::json::object& status);

// Whose books are rebuilt, and how they stand.
std::string rebuild_text(const boost::json::object& rebuild);

// "item 'phone' of sale 'phone-drop' has 1200 units in all (version 5)"
std::string restock_sentence(const boost::json::object& sale, std::string_view item);

}  // namespace doorbuster
