#!lua name=doorbuster
-- The book of one item bucket, as a Redis function: the same decisions as sale/book.cpp, which is
-- the model that redis_book_test compares this with.
--
-- Two keys in one hash slot:
--   KEYS[1]  hash    epoch, terms, figures; p<purchase> a take; b<buyer> the buyer's right;
--                    r<row> a restock that was applied; l<n> the purchases that were loaded and
--                    k<sequence> those that were taken since, for gates that must know each other's;
--                    reopened when there was something to sell again
--   KEYS[2]  stream  the outbox: what was accepted and is not known to be in Kafka; ids are
--                    epoch-sequence
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
local news_ms = 1000           -- so long after a reopening a gate may still refuse as before
local buyer_bytes_max = 128    -- BuyerId

-- The enumerations of sale/book.hpp and sale/stock_policy.hpp.
local not_ready, selling, paused, closed = 0, 1, 2, 3
local reserve_policy, at_order, at_payment = 0, 1, 2
local held, sold, finished, open = 0, 1, 2, 3
local accepted, repeated = '\0', '\1'
local says_sold_out, says_limit_reached, says_not_open, says_ended = '\2', '\3', '\4', '\5'
local says_paused, says_key_mismatch, says_sold_out_for_now = '\6', '\7', '\8'
local says_not_written = '\255'  -- the outbox refused: an error, and nothing has changed

-- A take: state, units, epoch, sequence, accepted_at in ms; then the buyer.
local take_form, take_bytes = '>BI4I8I8I8', 29
-- version, phase, opens_at, closes_at, units_per_buyer_max, policy, orders_max
local terms_form = '>I8BI8I8I4BI4'
-- total, available, held, sold, slots used, last sequence, last time seen
local figures_form = '>I4I4I4I4I4I8I8'
-- A buyer's right: active units, then the active purchases in the order of their acceptance.
local right_form, right_bytes, id_bytes = '>I4', 4, 16
local no_purchase = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

local function failure(text) return redis.error_reply(text) end
local function malformed(what) return failure('MALFORMED ' .. what) end

local function whole(text, least, most)
    local number = tonumber(text)
    if not number or number ~= math.floor(number) or number < least or number > most then return nil end
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
        pin = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') ..
            string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
    end
    return pin
end

-- ARGV[1] is the pin and ARGV[2] the epoch of the caller's lease. A missing book has no epoch.
local function fenced(args, epoch)
    if args[1] ~= pin_now() then return failure('FENCED pin') end
    if not epoch then return failure('FENCED no book') end
    if args[2] ~= epoch then return failure('FENCED epoch ' .. epoch) end
    return nil
end

-- The clock that counts is Redis' own. Only tests hand a time in.
local function now_ms(handed_in)
    if handed_in ~= '' then return tonumber(handed_in) end
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function outbox_id(epoch, sequence) return epoch .. '-' .. sequence end

local function is_pending(outbox, epoch, take_epoch, sequence)
    -- A take of an older epoch came through PostgreSQL, by a load.
    if take_epoch ~= tonumber(epoch) then return false end
    local id = outbox_id(epoch, sequence)
    return #redis.call('XRANGE', outbox, id, id) > 0
end

-- Whether nobody could buy: gates may show that for a while.
local function is_shut(terms, total, available, slots)
    local _, _, _, _, _, policy, orders_max = struct.unpack(terms_form, terms)
    if orders_max == 0 then orders_max = 2 * total end
    return available == 0 or (policy == at_payment and slots >= orders_max)
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

local function with_right(right, units, purchase)
    if not right then return struct.pack(right_form, units) .. purchase end
    local active = struct.unpack(right_form, right)
    return struct.pack(right_form, active + units) .. string.sub(right, right_bytes + 1) .. purchase
end

-- False where nothing is left of it.
local function without_right(right, units, purchase)
    local active = struct.unpack(right_form, right) - units
    if active == 0 then return false end
    local kept = {struct.pack(right_form, active)}
    for at = right_bytes + 1, #right, id_bytes do
        local one = string.sub(right, at, at + id_bytes - 1)
        if one ~= purchase then kept[#kept + 1] = one end
    end
    return table.concat(kept)
end

-- ARGV: pin, epoch, time; then purchase, buyer, units, replaced purchase ('' for none) of each.
-- What replaces a finished purchase is a late payment or a dead letter that is tried again: its
-- time was when it was first accepted, so neither window nor phase is asked.
-- Answers a string for each: the outcome's number; accepted, repeated: the take without the buyer, then 1 if it
-- is still pending, plus 2 if it is news; limit_reached: the purchase that holds the right.
local function reserve(keys, args)
    local fields = {'epoch', 'terms', 'figures'}
    local count = (#args - 3) / 4
    if count < 1 or count ~= math.floor(count) or count > entries_max then return malformed('entries') end
    for at = 4, #args, 4 do
        local buyer, replaces = args[at + 1], args[at + 3]
        if #args[at] ~= id_bytes then return malformed('purchase') end
        if buyer == '' or #buyer > buyer_bytes_max then return malformed('buyer') end
        if not whole(args[at + 2], 1, units_max) then return malformed('units') end
        if replaces ~= '' and #replaces ~= id_bytes then return malformed('replaces') end
        fields[at / 2 + 2] = 'p' .. args[at]
        fields[at / 2 + 3] = 'b' .. buyer
    end
    if args[3] ~= '' and not whole(args[3], 0, 2 ^ 53) then return malformed('time') end

    fields[#fields + 1] = 'reopened'
    local stored = redis.call('HMGET', keys[1], unpack(fields))
    local epoch = stored[1]
    local reopened = tonumber(stored[#fields] or -news_ms)
    local fault = fenced(args, epoch)
    if fault then return fault end

    local _, phase, opens_at, closes_at, units_per_buyer_max, policy, orders_max =
        struct.unpack(terms_form, stored[2])
    local total, available, units_held, units_sold, slots, sequence, last = struct.unpack(figures_form, stored[3])
    if orders_max == 0 then orders_max = 2 * total end
    -- A clock that steps back does not close a sale that was open.
    local now = math.max(now_ms(args[3]), last)
    local fresh = {}  -- by field: what this call has accepted so far
    local changed, changes = {'figures', ''}, 2

    -- Taken so soon after a reopening that other gates may not know of either: whoever is told of it waits until
    -- they do, or its winner, who repeats there, would hear a refusal.
    local function news(accepted_at)
        return accepted_at - reopened < news_ms and accepted_at >= reopened and now - accepted_at < news_ms and 2 or 0
    end

    -- `field` is the place of the purchase's field, and the one behind it that of the buyer's.
    local function decide(purchase, buyer, units, replaces, field)
        -- Idempotency precedes everything: a winner who repeats after the last unit went, or
        -- after the end, must hear "already yours".
        local take = fresh[fields[field]] or stored[field]
        if take then
            local _, own_units, own_epoch, own_sequence, accepted_at = struct.unpack(take_form, take)
            if own_units ~= units or string.sub(take, take_bytes + 1) ~= buyer then return says_key_mismatch end
            local pending = is_pending(keys[2], epoch, own_epoch, own_sequence) and 1 or 0
            return repeated .. string.sub(take, 1, take_bytes) .. string.char(pending + news(accepted_at))
        end
        if replaces == '' then
            if phase == closed or (phase ~= not_ready and now >= closes_at) then return says_ended end
            if phase == not_ready or now < opens_at then return says_not_open end
            if phase == paused then return says_paused end
        end
        -- The limit precedes scarcity: a buyer who has a unit must not come back for another one
        -- when somebody else's is returned.
        local right = fresh[fields[field + 1]] or stored[field + 1]
        local active = right and struct.unpack(right_form, right) or 0
        if active + units > units_per_buyer_max then
            return says_limit_reached .. (right and string.sub(right, -id_bytes) or no_purchase)
        end
        if available < units then return says_sold_out end
        -- Behind the stock: with no unit left, waiting for somebody's slot would be in vain.
        if policy == at_payment and slots + units > orders_max then return says_sold_out_for_now end

        local state = policy == reserve_policy and held or policy == at_order and sold or open
        local header = struct.pack(take_form, state, units, tonumber(epoch), sequence + 1, now)
        take = header .. buyer
        -- First of all writes, and the only one that can be refused: without its outbox entry an
        -- accepted purchase could be lost between here and Kafka.
        local added
        if replaces == '' then
            added = redis.pcall('XADD', keys[2], outbox_id(epoch, sequence + 1), 'take', purchase .. take)
        else
            added = redis.pcall('XADD', keys[2], outbox_id(epoch, sequence + 1), 'take', purchase .. take,
                'replaces', replaces)
        end
        if type(added) == 'table' and added.err then return says_not_written end

        sequence = sequence + 1
        if policy == at_payment then
            slots = slots + units
        else
            available = available - units
            if policy == at_order then units_sold = units_sold + units else units_held = units_held + units end
        end
        right = with_right(right, units, purchase)
        fresh[fields[field]], fresh[fields[field + 1]] = take, right
        changed[changes + 1], changed[changes + 2] = fields[field], take
        changed[changes + 3], changed[changes + 4] = fields[field + 1], right
        changed[changes + 5], changed[changes + 6] = 'k' .. sequence, purchase
        changes = changes + 6
        return accepted .. header .. string.char(1 + news(now))
    end

    local answers, field = {}, 4
    for i = 1, count do
        local at = 4 * i
        answers[i] = decide(args[at], args[at + 1], tonumber(args[at + 2]), args[at + 3], field)
        field = field + 2
    end
    if now > last or changes > 2 then
        changed[2] = struct.pack(figures_form, total, available, units_held, units_sold, slots, sequence, now)
        redis.call('HSET', keys[1], unpack(changed))
    end
    return answers
end

-- ARGV: pin, epoch; then purchase and sequence of each take that is in Kafka. An outbox entry goes
-- if it is that purchase's. Answers how many went.
local function done(keys, args)
    local fields = purchase_fields(args, 3, 2, {'epoch'})
    if not fields then return malformed('purchases') end
    local stored = redis.call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args, stored[1])
    if fault then return fault end
    local gone = {}
    for i = 2, #fields do
        if stored[i] then
            local _, _, epoch, sequence = struct.unpack(take_form, stored[i])
            if epoch == tonumber(args[2]) and sequence == tonumber(args[2 * i]) then
                gone[#gone + 1] = outbox_id(args[2], sequence)
            end
        end
    end
    if #gone == 0 then return 0 end
    return redis.call('XDEL', keys[2], unpack(gone))
end
