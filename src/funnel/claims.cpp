#include "funnel/claims.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include "base/json_names.hpp"

namespace doorbuster {

namespace {

namespace json = boost::json;

// Boost.JSON calls this as it reads; strings may come in parts.
class Reader {
public:
    static constexpr size_t max_object_size = SIZE_MAX;
    static constexpr size_t max_array_size = SIZE_MAX;
    static constexpr size_t max_key_size = SIZE_MAX;
    static constexpr size_t max_string_size = SIZE_MAX;
    using Error = json::error_code;

    Reader(const ClaimsWanted& wanted, Claims& claims) : wanted_(wanted), claims_(claims) {}

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }

    bool on_object_begin(Error& error) {
        if (names_.depth() > 0) other();
        return names_.enter_object() || fail(error);
    }
    bool on_object_end(size_t, Error&) {
        names_.leave();
        return true;
    }
    bool on_array_begin(Error& error) {
        if (names_.depth() == 0) return fail(error);  // not an object at all
        const bool is_audience_list = audience_depth_ == 1;
        if (is_audience_list) {
            end_value();
            begin_audience(2);
        } else {
            other();
        }
        return names_.enter_list() || fail(error);
    }
    bool on_array_end(size_t, Error&) {
        names_.leave();
        if (names_.depth() < audience_depth_) audience_depth_ = 0;
        return true;
    }

    bool on_key_part(json::string_view part, size_t, Error& error) { return append_name(part, error); }
    bool on_key(json::string_view part, size_t, Error& error) {
        if (!append_name(part, error)) return false;
        const std::string_view name(name_.data(), name_size_);
        if (names_.end() != JsonNames::Name::fresh) return fail(error);
        name_size_ = 0;
        if (names_.depth() == 1) begin_member(name);
        return true;
    }

    bool on_string_part(json::string_view part, size_t, Error&) { return append_text(part); }
    bool on_string(json::string_view part, size_t, Error&) {
        append_text(part);
        if (in_audience()) {
            claims_.aud.has_wanted = claims_.aud.has_wanted || (!audience_differs_ && audience_left_.empty());
            begin_audience(audience_depth_);
        }
        if (names_.depth() == 1 && text_ != nullptr) {
            *text_is_string_ = true;
            *text_size_ = text_overlong_ ? 0 : text_used_;
        }
        end_value();
        return true;
    }

    bool on_number_part(json::string_view, Error&) { return true; }
    bool on_int64(int64_t value, json::string_view, Error&) { return number(static_cast<double>(value)); }
    bool on_uint64(uint64_t value, json::string_view, Error&) { return number(static_cast<double>(value)); }
    bool on_double(double value, json::string_view, Error&) { return number(value); }
    bool on_bool(bool, Error&) { return other(); }
    bool on_null(Error&) { return other(); }
    bool on_comment_part(json::string_view, Error&) { return true; }
    bool on_comment(json::string_view, Error&) { return true; }

private:
    static bool fail(Error& error) {
        error = json::error::syntax;
        return false;
    }

    bool append_name(json::string_view part, Error& error) {
        if (part.size() > name_.size() - name_size_) return fail(error);
        std::memcpy(name_.data() + name_size_, part.data(), part.size());
        name_size_ += part.size();
        names_.add(part);
        return true;
    }

    void begin_member(std::string_view name) {
        if (name == "alg") {
            expect(claims_.alg);
        } else if (name == "typ") {
            expect(claims_.typ);
        } else if (name == "kid") {
            expect(claims_.kid);
        } else if (name == "sub") {
            expect(claims_.sub);
        } else if (name == "iss") {
            expect(claims_.iss);
        } else if (name == "aud") {
            claims_.aud.present = true;
            begin_audience(1);
        } else if (name == "crit") {
            claims_.has_crit = true;
        } else if (name == "exp") {
            expect(claims_.exp);
        } else if (name == "nbf") {
            expect(claims_.nbf);
        } else if (name == "iat") {
            expect(claims_.iat);
        } else if (!wanted_.check_claim.empty() && name == wanted_.check_claim) {
            expect(claims_.check);
        }
    }

    template <size_t BytesMax>
    void expect(Claims::Text<BytesMax>& text) {
        text.present = true;
        text_ = text.bytes.data();
        text_room_ = BytesMax;
        text_size_ = &text.size;
        text_is_string_ = &text.is_string;
    }
    void expect(Claims::Number& member) {
        member.present = true;
        number_ = &member;
    }

    // `depth` is where its strings stand: beside the other members, or in a list below.
    void begin_audience(size_t depth) {
        audience_depth_ = depth;
        audience_left_ = wanted_.audience;
        audience_differs_ = false;
    }
    bool in_audience() const { return audience_depth_ != 0 && names_.depth() == audience_depth_; }

    bool append_text(json::string_view part) {
        if (in_audience()) {
            audience_differs_ = audience_differs_ || !audience_left_.starts_with(part);
            if (!audience_differs_) audience_left_.remove_prefix(part.size());
        }
        if (names_.depth() != 1 || text_ == nullptr) return true;
        text_overlong_ = text_overlong_ || part.size() > text_room_ - text_used_;
        if (text_overlong_) return true;
        std::memcpy(text_ + text_used_, part.data(), part.size());
        text_used_ += part.size();
        return true;
    }

    bool number(double value) {
        if (names_.depth() == 1 && number_ != nullptr) number_->value = value;
        return other();
    }

    // Anything but a string, a wanted number, or a list of audiences.
    bool other() {
        if (in_audience()) claims_.aud.malformed = true;
        end_value();
        return true;
    }

    // What the value behind a name was, is known now: nothing later belongs to it.
    void end_value() {
        text_ = nullptr;
        text_used_ = 0;
        text_overlong_ = false;
        number_ = nullptr;
        if (audience_depth_ == 1) audience_depth_ = 0;
    }

    const ClaimsWanted& wanted_;
    Claims& claims_;
    JsonNames names_;

    std::array<char, 256> name_;
    size_t name_size_ = 0;

    // Where the value being read goes; null if nobody asked for it.
    char* text_ = nullptr;
    size_t text_room_ = 0, text_used_ = 0;
    bool text_overlong_ = false;
    size_t* text_size_ = nullptr;
    bool* text_is_string_ = nullptr;
    Claims::Number* number_ = nullptr;

    // How much of the wanted audience is still to come in the string being read.
    size_t audience_depth_ = 0;  // 0: not in an audience
    std::string_view audience_left_;
    bool audience_differs_ = false;
};

}  // namespace

ClaimsFault read_claims(std::string_view text, const ClaimsWanted& wanted, Claims& claims) {
    json::parse_options options;
    options.max_depth = claims_depth_max;
    json::basic_parser<Reader> parser(options, wanted, claims);
    json::error_code error;
    const size_t used = parser.write_some(false, text.data(), text.size(), error);
    if (error == json::error::too_deep) return ClaimsFault::too_deep;
    if (error || used != text.size()) return ClaimsFault::malformed;
    return ClaimsFault::none;
}

}  // namespace doorbuster
