#!lua name=doorbuster
-- The book of one item bucket, as a Redis function: the same decisions as sale/book.cpp, which is
-- the model that redis_book_test compares this with.
--
-- Two keys in one hash slot:
--   KEYS[1]  hash    head, figures; p<purchase> a take; b<buyer> the buyer's right;
--                    r<row> a restock that was applied; l<n> the purchases that were loaded and
--                    <epoch>-<sequence> those that were taken since, for gates that must know each
--                    other's; loaded how many those were
--   KEYS[2]  stream  the outbox: what was accepted and is not known to be in Kafka; ids are
--                    epoch-sequence, an entry is purchase and take, then replaces and a purchase
-- What is remembered lives as long as its epoch, which `load` ends. Bound: the acceptances of the
-- sale and the restocks of the epoch.
--
-- Redis only filters and holds no promise, so a doubt is always an error:
--   FENCED     this is not the Redis that the caller means, or not the epoch
--   NEWER      load: the epoch that is there is not older
--   MALFORMED  a mistake of the caller; nothing was looked at
-- No error is an answer about stock. Every check of a call precedes its first write, since Redis
-- does not take a write back when a function fails behind it.

local entries_max = 1000       -- of one call but load; unpack's limit lies near 8000
local units_max = 100000000    -- sale/sale.hpp
local buyer_bytes_max = 128    -- BuyerId

-- The enumerations of sale/book.hpp and sale/stock_policy.hpp.
local not_ready, selling, paused, closed = 0, 1, 2, 3
local reserve_policy, at_order, at_payment = 0, 1, 2
local held, sold, finished, open = 0, 1, 2, 3
-- An outcome is said as 16 and its number: what begins with less is a take.
local accepted, repeated = '\16', '\17'
local says_sold_out, says_limit_reached, says_not_open, says_ended = '\18', '\19', '\20', '\21'
local says_paused, says_key_mismatch, says_sold_out_for_now = '\22', '\23', '\24'
local says_not_written = '\255'  -- the outbox refused: an error, and nothing has changed

-- A take: state, units, epoch, sequence, accepted_at in ms; then the buyer.
local take_form, take_bytes = '>BI4I8I8I8', 29
local new_take_form = take_form .. 'c0'
-- version, phase, opens_at, closes_at, units_per_buyer_max, policy, orders_max
local terms_form = '>I8BI8I8I4BI4'
-- epoch, how often there was something to sell again, then the terms: what seldom changes
local head_form, terms_at = '>I8I8', 17
local reopenings_at, reopenings_bytes = 9, 8
-- total, available, held, sold, slots used, last sequence, last time seen
local figures_form = '>I4I4I4I4I4I8I8'
-- A buyer's right: the active purchases in the order of their acceptance, then the active units. One unit is
-- not written: so nearly everybody's right is the purchase, and nothing has to be made for it.
local units_form, units_bytes, id_bytes = '>I4', 4, 16
local no_purchase = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

-- A global is looked up in two tables each time. None of these is there yet while the library is loaded, so they
-- are taken before the first call of any function.
local call, try, struct_pack, struct_unpack, text_of, part_of
local function take_names()
    call, try = redis.call, redis.pcall
    struct_pack, struct_unpack = struct.pack, struct.unpack
    text_of, part_of = string.format, string.sub
end

local function failure(text) return redis.error_reply(text) end
local function malformed(what) return failure('MALFORMED ' .. what) end

local function whole(text, least, most)
    local number = tonumber(text)
    if not number or number % 1 ~= 0 or number < least or number > most then return nil end
    return number
end

-- Which Redis this is. The run_id alone would not do: a master that was demoted under a stale
-- replica and promoted again has lost writes and keeps it; its replication id is another one.
-- Read once by each copy of this library, since INFO costs as much as all else of a lone purchase.
-- That is enough: what takes writes back, a snapshot that is loaded at the start or from another
-- master, brings a fresh copy that has read nothing yet. A master that merely catches up with another
-- one has lost nothing.
local pin = nil
local function pin_now()
    if not pin then
        pin = string.match(call('INFO', 'server'), 'run_id:(%x+)') ..
            string.match(call('INFO', 'replication'), 'master_replid:(%x+)')
    end
    return pin
end

local function packed_head(epoch, reopenings, terms) return struct_pack(head_form, epoch, reopenings) .. terms end

-- What a head says. It decides, so the text comes from the hash in every call; but what the text means is
-- the same for long, and is kept.
local head_text, head = nil, nil
local function head_of(text)
    if text ~= head_text then
        local epoch, reopenings = struct_unpack(head_form, text)
        local version, phase, opens_at, closes_at, units_per_buyer_max, policy, orders_max =
            struct_unpack(terms_form, text, terms_at)
        head_text, head = text, {
            epoch = epoch,
            reopenings = reopenings,
            reopenings_text = part_of(text, reopenings_at, reopenings_at + reopenings_bytes - 1),
            version = version, phase = phase, opens_at = opens_at, closes_at = closes_at,
            units_per_buyer_max = units_per_buyer_max, policy = policy, orders_max = orders_max,
            lease = text_of('%s-%d', pin_now(), epoch),
            id_tens = -1, id_begin = nil,  -- of the last outbox id that was made
            state = policy == reserve_policy and held or policy == at_order and sold or open,
            -- From here to closes_at a unit is all that a buyer needs who has none.
            plain_from = phase == selling and policy ~= at_payment and units_per_buyer_max > 0 and opens_at or 2 ^ 53,
        }
    end
    return head
end

-- ARGV[1] is the caller's lease: pin-epoch. Answers why it does not hold.
local function fenced(lease, text)
    if part_of(lease, 1, #pin_now() + 1) ~= pin_now() .. '-' then return failure('FENCED pin') end
    if not text then return failure('FENCED no book') end
    if lease ~= head_of(text).lease then return failure(text_of('FENCED epoch %d', head_of(text).epoch)) end
    return nil
end

-- The clock that counts is Redis' own. Only tests hand a time in.
local second_text, second_ms = nil, nil
local function now_ms(handed_in)
    if handed_in then return tonumber(handed_in) end
    local time = call('TIME')
    if time[1] ~= second_text then second_text, second_ms = time[1], time[1] * 1000 end
    local ms = time[2] / 1000
    return second_ms + ms - ms % 1
end

-- epoch-sequence. Ten that follow each other differ in a digit: a number is made a text for the first of them only,
-- since the C library's way there is long, and cold when a lone purchase comes.
local digits = {'1', '2', '3', '4', '5', '6', '7', '8', '9', [0] = '0'}
local function outbox_id(book, sequence)
    local digit = sequence % 10
    local tens = (sequence - digit) / 10
    if tens ~= book.id_tens then
        book.id_tens = tens
        book.id_begin = tens == 0 and text_of('%d-', book.epoch) or text_of('%d-%d', book.epoch, tens)
    end
    return book.id_begin .. digits[digit]
end

local function is_pending(outbox, book, take_epoch, sequence)
    -- A take of an older epoch came through PostgreSQL, by a load.
    if take_epoch ~= book.epoch then return false end
    local id = outbox_id(book, sequence)
    return #call('XRANGE', outbox, id, id) > 0
end

-- Whether nobody could buy: gates may show that for a while.
local function is_shut(book, total, available, slots)
    local orders_max = book.orders_max == 0 and 2 * total or book.orders_max
    return available == 0 or (book.policy == at_payment and slots >= orders_max)
end

-- The hash fields of the purchases in args[first], args[first + step], ...; nil if one is no id.
local function purchase_fields(args, first, step, fields)
    if #args < first or (#args - first + 1) % step ~= 0 or (#args - first + 1) / step > entries_max then
        return nil
    end
    for at = first, #args, step do
        if #args[at] ~= id_bytes then return nil end
        fields[#fields + 1] = 'p' .. args[at]
    end
    return fields
end

-- What is said of a take. Behind a reopening other gates may still refuse as before, so the caller hears how many
-- there were, and tells by its own looks and clock whether that is news.
local function said_of(outcome, take, is_pending, book)
    return outcome .. part_of(take, 1, take_bytes) .. (is_pending and '\1' or '\0') .. book.reopenings_text
end
local function said_accepted(take, book)
    if book.reopenings == 0 then return take end
    return said_of(accepted, take, true, book)
end

local function active_in(right)
    if #right == id_bytes then return 1 end
    return (struct_unpack(units_form, right, #right - units_bytes + 1))
end

local function purchases_in(right) return part_of(right, 1, #right - #right % id_bytes) end

local function packed_right(active, purchases)
    if active == 1 then return purchases end
    return purchases .. struct_pack(units_form, active)
end

local function with_right(right, units, purchase)
    if not right then return packed_right(units, purchase) end
    return packed_right(active_in(right) + units, purchases_in(right) .. purchase)
end

-- False where nothing is left of it.
local function without_right(right, units, purchase)
    local active = active_in(right) - units
    if active == 0 then return false end
    local kept = {}
    for at = 1, #right - id_bytes + 1, id_bytes do
        local one = part_of(right, at, at + id_bytes - 1)
        if one ~= purchase then kept[#kept + 1] = one end
    end
    return packed_right(active, table.concat(kept))
end

-- Of any number of purchases; `stored` is what the hash says of a lone one, if it was asked.
local function reserve_each(keys, args, stored)
    local words = #args - 1
    local handed_in = words % 3 == 1 and args[words + 1] or nil
    if handed_in then words = words - 1 end
    local count = words / 3
    if count < 1 or count % 1 ~= 0 or count > entries_max then return malformed('entries') end
    local fields = {'head', 'figures'}
    for i = 1, count do
        local purchase, buyer, rest = args[3 * i - 1], args[3 * i], args[3 * i + 1]
        if #purchase ~= id_bytes then return malformed('purchase') end
        if buyer == '' or #buyer > buyer_bytes_max then return malformed('buyer') end
        if rest ~= '' then
            if #rest ~= units_bytes and #rest ~= units_bytes + id_bytes then return malformed('rest') end
            local units = struct_unpack(units_form, rest)
            if units < 1 or units > units_max then return malformed('units') end
        end
        fields[2 * i + 1], fields[2 * i + 2] = 'p' .. purchase, 'b' .. buyer
    end
    if handed_in and not whole(handed_in, 0, 2 ^ 53) then return malformed('time') end

    stored = stored or call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    local book = head_of(stored[1])
    local phase, policy, orders_max = book.phase, book.policy, book.orders_max
    local total, available, units_held, units_sold, slots, sequence, last = struct_unpack(figures_form, stored[2])
    if orders_max == 0 then orders_max = 2 * total end
    -- A clock that steps back does not close a sale that was open.
    local now = now_ms(handed_in)
    if now < last then now = last end
    local window  -- why nobody may buy now
    if phase == closed or (phase ~= not_ready and now >= book.closes_at) then
        window = says_ended
    elseif phase == not_ready or now < book.opens_at then
        window = says_not_open
    elseif phase == paused then
        window = says_paused
    end
    local fresh = {}  -- by field: what this call has accepted so far
    local changed, changes = {'figures', false}, 2

    local answers, answer = {}, nil
    for i = 1, count do
        local purchase, buyer, rest = args[3 * i - 1], args[3 * i], args[3 * i + 1]
        local units, replaces = 1, nil
        if rest ~= '' then
            units = struct_unpack(units_form, rest)
            if #rest > units_bytes then replaces = part_of(rest, units_bytes + 1) end
        end
        local purchase_field, buyer_field = fields[2 * i + 1], fields[2 * i + 2]
        local take = fresh[purchase_field] or stored[2 * i + 1]
        local right = fresh[buyer_field] or stored[2 * i + 2]
        local active = right and active_in(right) or 0
        if take then
            -- Idempotency precedes everything: a winner who repeats after the last unit went, or
            -- after the end, must hear "already yours".
            local _, own_units, own_epoch, own_sequence = struct_unpack(take_form, take)
            if own_units ~= units or part_of(take, take_bytes + 1) ~= buyer then
                answer = says_key_mismatch
            else
                answer = said_of(repeated, take, is_pending(keys[2], book, own_epoch, own_sequence), book)
            end
        elseif window and not replaces then
            answer = window
        elseif active + units > book.units_per_buyer_max then
            -- The limit precedes scarcity: a buyer who has a unit must not come back for another one
            -- when somebody else's is returned.
            answer = says_limit_reached .. (right and part_of(purchases_in(right), -id_bytes) or no_purchase)
        elseif available < units then
            answer = says_sold_out
        elseif policy == at_payment and slots + units > orders_max then
            -- Behind the stock: with no unit left, waiting for somebody's slot would be in vain.
            answer = says_sold_out_for_now
        else
            local id = outbox_id(book, sequence + 1)
            take = struct_pack(new_take_form, book.state, units, book.epoch, sequence + 1, now, buyer)
            -- First of all writes, and the only one that can be refused: without its outbox entry an
            -- accepted purchase could be lost between here and Kafka.
            local added
            if replaces then
                added = try('XADD', keys[2], id, purchase, take, 'replaces', replaces)
            else
                added = try('XADD', keys[2], id, purchase, take)
            end
            if added ~= id then
                answer = says_not_written
            else
                sequence = sequence + 1
                if policy == at_payment then
                    slots = slots + units
                else
                    available = available - units
                    if policy == at_order then units_sold = units_sold + units else units_held = units_held + units end
                end
                right = (right or units > 1) and with_right(right, units, purchase) or purchase
                fresh[purchase_field], fresh[buyer_field] = take, right
                changed[changes + 1], changed[changes + 2] = purchase_field, take
                changed[changes + 3], changed[changes + 4] = buyer_field, right
                changed[changes + 5], changed[changes + 6] = id, purchase
                changes = changes + 6
                answer = said_accepted(take, book)
            end
        end
        answers[i] = answer
    end
    if now > last or changes > 2 then
        changed[2] = struct_pack(figures_form, total, available, units_held, units_sold, slots, sequence, now)
        call('HSET', keys[1], unpack(changed))
    end
    return count > 1 and answers or answer
end

-- ARGV: lease; then purchase, buyer and the rest of each; then the time, if one is handed in. The rest: '' for one
-- unit; else the units in four bytes, and the purchase that it replaces, if it does.
-- What replaces a finished purchase is a late payment or a dead letter that is tried again: its
-- time was when it was first accepted, so neither window nor phase is asked.
-- Answers a string for each: the outcome; accepted, repeated: the take without the buyer, then 1 if it
-- is still pending, then how often the book was reopened; limit_reached: the purchase that holds the right. Who is
-- accepted before any reopening is answered by the take as it is. Who comes alone is answered by the string alone.
--
-- Here only the plain case is decided: one purchase alone, of one unit, by somebody who has none, and there is one.
-- With nobody else to share a call with, that pays for all of the Lua it passes through; so this has no loop, no
-- table, and no text but those that are kept. A table that Redis makes costs by the doublings it grows by: hence
-- few words. Every doubt goes the long way, before anything is written.
local function reserve(keys, args)
    if not call then take_names() end
    local words, purchase, buyer, handed_in = #args, args[2], args[3], args[5]
    if words < 4 or words > 5 or args[4] ~= '' or #purchase ~= id_bytes or buyer == '' or #buyer > buyer_bytes_max or
        (handed_in and not whole(handed_in, 0, 2 ^ 53)) then
        return reserve_each(keys, args)
    end
    local key = keys[1]
    local purchase_field, buyer_field = 'p' .. purchase, 'b' .. buyer
    local stored = call('HMGET', key, 'head', 'figures', purchase_field, buyer_field)
    local text, book = stored[1], head
    if text ~= head_text then book = text and head_of(text) end
    if not book or args[1] ~= book.lease or stored[3] or stored[4] then return reserve_each(keys, args, stored) end
    local total, available, units_held, units_sold, slots, sequence, last = struct_unpack(figures_form, stored[2])
    if available == 0 then return reserve_each(keys, args, stored) end
    local now = now_ms(handed_in)
    if now < last then now = last end
    if now < book.plain_from or now >= book.closes_at then return reserve_each(keys, args, stored) end

    sequence = sequence + 1
    local id = outbox_id(book, sequence)
    local take = struct_pack(new_take_form, book.state, 1, book.epoch, sequence, now, buyer)
    if try('XADD', keys[2], id, purchase, take) ~= id then return says_not_written end  -- first, as above
    if book.state == held then units_held = units_held + 1 else units_sold = units_sold + 1 end
    call('HSET', key, 'figures',
        struct_pack(figures_form, total, available - 1, units_held, units_sold, slots, sequence, now),
        purchase_field, take, buyer_field, purchase, id, purchase)
    return said_accepted(take, book)
end

-- ARGV: lease; then purchase and sequence of each take that is in Kafka. An outbox entry goes
-- if it is that purchase's. Answers how many went.
local function done(keys, args)
    local fields = purchase_fields(args, 2, 2, {'head'})
    if not fields then return malformed('purchases') end
    local stored = call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args[1], stored[1])
    if fault then return fault end
    local book, gone = head_of(stored[1]), {}
    for i = 2, #fields do
        if stored[i] then
            local _, _, epoch, sequence = struct_unpack(take_form, stored[i])
            if epoch == book.epoch and sequence == tonumber(args[2 * i - 1]) then
                gone[#gone + 1] = outbox_id(book, sequence)
            end
        end
    end
    if #gone == 0 then return 0 end
    return call('XDEL', keys[2], unpack(gone))
end
