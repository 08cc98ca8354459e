-- Continues book.lua: what reaches a book from PostgreSQL, and what is read from it. One library,
-- joined by CMake, so that both see the same local names.

-- Units, or slots, came to a book that had none.
local function add_reopening(changed, last)
    changed[#changed + 1] = 'reopened'
    changed[#changed + 1] = math.max(now_ms(''), last)
end

-- ARGV: pin, epoch; then purchases, each named in a release row of this epoch. Their units, or their
-- slots, and their buyers' rights come back. Answers 1 for each, 0 if that was done before or the
-- purchase is unknown: nothing is ever returned twice.
local function release(keys, args)
    local fields = purchase_fields(args, 3, 1, {'epoch', 'figures', 'terms'})
    if not fields then return malformed('purchases') end
    local stored = redis.call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args, stored[1])
    if fault then return fault end
    local total, available, units_held, units_sold, slots, sequence, last = struct.unpack(figures_form, stored[2])
    local was_shut = is_shut(stored[3], total, available, slots)

    local takes, rights, right_fields = {}, {}, {}
    for i = 4, #fields do
        takes[fields[i]] = stored[i]
        if stored[i] then
            right_fields[#right_fields + 1] = 'b' .. string.sub(stored[i], take_bytes + 1)
        end
    end
    if #right_fields > 0 then
        local found = redis.call('HMGET', keys[1], unpack(right_fields))
        for i, field in ipairs(right_fields) do rights[field] = found[i] end
    end

    local answers, changed, has_changed = {}, {}, {}
    for i = 4, #fields do
        local field, take = fields[i], takes[fields[i]]
        local state, units = finished, 0
        if take then state, units = struct.unpack(take_form, take) end
        if state == finished then
            answers[#answers + 1] = 0
        else
            if state == open then
                slots = slots - units
            else
                available = available + units
                if state == held then units_held = units_held - units else units_sold = units_sold - units end
            end
            takes[field] = string.char(finished) .. string.sub(take, 2)
            local right_field = 'b' .. string.sub(take, take_bytes + 1)
            rights[right_field] = without_right(rights[right_field], units, string.sub(field, 2))
            has_changed[right_field] = true
            changed[#changed + 1] = field
            changed[#changed + 1] = takes[field]
            answers[#answers + 1] = 1
        end
    end
    if #changed == 0 then return answers end
    local ended = {}
    for field in pairs(has_changed) do
        if rights[field] then
            changed[#changed + 1] = field
            changed[#changed + 1] = rights[field]
        else
            ended[#ended + 1] = field
        end
    end
    changed[#changed + 1] = 'figures'
    changed[#changed + 1] = struct.pack(figures_form, total, available, units_held, units_sold, slots, sequence, last)
    if was_shut then add_reopening(changed, last) end
    redis.call('HSET', keys[1], unpack(changed))
    if #ended > 0 then redis.call('HDEL', keys[1], unpack(ended)) end
    return answers
end

-- ARGV: pin, epoch; then purchases that are paid: held -> sold, open -> sold; what is sold stays so.
-- Answers 0 if one is finished or unknown, or open with no unit left for it.
local function sell(keys, args)
    local fields = purchase_fields(args, 3, 1, {'epoch', 'figures', 'terms'})
    if not fields then return malformed('purchases') end
    local stored = redis.call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args, stored[1])
    if fault then return fault end
    local total, available, units_held, units_sold, slots, sequence, last = struct.unpack(figures_form, stored[2])
    local was_shut = is_shut(stored[3], total, available, slots)

    local takes, answers, changed = {}, {}, {}
    for i = 4, #fields do takes[fields[i]] = stored[i] end
    for i = 4, #fields do
        local field, take = fields[i], takes[fields[i]]
        local state, units = finished, 0
        if take then state, units = struct.unpack(take_form, take) end
        if state == finished or (state == open and available < units) then
            answers[#answers + 1] = 0
        else
            if state ~= sold then
                if state == open then
                    available, slots = available - units, slots - units
                else
                    units_held = units_held - units
                end
                units_sold = units_sold + units
                takes[field] = string.char(sold) .. string.sub(take, 2)
                changed[#changed + 1] = field
                changed[#changed + 1] = takes[field]
            end
            answers[#answers + 1] = 1
        end
    end
    if #changed == 0 then return answers end
    changed[#changed + 1] = 'figures'
    changed[#changed + 1] = struct.pack(figures_form, total, available, units_held, units_sold, slots, sequence, last)
    if was_shut and not is_shut(stored[3], total, available, slots) then add_reopening(changed, last) end
    redis.call('HSET', keys[1], unpack(changed))
    return answers
end

-- ARGV: pin, epoch, id of the release row, units. Answers 0 if that row was applied before.
local function restock(keys, args)
    if #args ~= 4 or args[3] == '' then return malformed('row') end
    local units = whole(args[4], 1, units_max)
    if not units then return malformed('units') end
    local row = 'r' .. args[3]
    local stored = redis.call('HMGET', keys[1], 'epoch', 'figures', row, 'terms')
    local fault = fenced(args, stored[1])
    if fault then return fault end
    if stored[3] then return 0 end
    local total, available, units_held, units_sold, slots, sequence, last = struct.unpack(figures_form, stored[2])
    local changed = {row, '', 'figures',
        struct.pack(figures_form, total + units, available + units, units_held, units_sold, slots, sequence, last)}
    if is_shut(stored[4], total, available, slots) then add_reopening(changed, last) end
    redis.call('HSET', keys[1], unpack(changed))
    return 1
end

-- args[first] ...: version, phase, opens_at, closes_at, units_per_buyer_max, policy, orders_max.
local function packed_terms(args, first)
    local most = {2 ^ 53, closed, 2 ^ 53, 2 ^ 53, 2 ^ 32 - 1, at_payment, 2 ^ 32 - 1}
    local numbers = {}
    for i = 1, #most do
        numbers[i] = whole(args[first + i - 1], 0, most[i])
        if not numbers[i] then return nil end
    end
    return struct.pack(terms_form, unpack(numbers))
end

-- ARGV: pin, epoch, the terms. The operator's word: an older version than the one that is there is
-- ignored, since calls may overtake each other. Answers whether it was taken. The stock policy stays
-- what it was loaded with.
local function set_state(keys, args)
    local terms = #args == 9 and packed_terms(args, 3)
    if not terms then return malformed('terms') end
    local stored = redis.call('HMGET', keys[1], 'epoch', 'terms')
    local fault = fenced(args, stored[1])
    if fault then return fault end
    local version, _, _, _, _, policy = struct.unpack(terms_form, stored[2])
    if tonumber(args[3]) <= version then return 0 end
    if tonumber(args[8]) ~= policy then return malformed('policy') end
    redis.call('HSET', keys[1], 'terms', terms)
    return 1
end

-- ARGV: epoch, the terms, total, available, held, sold; then purchase and take (state, units, epoch,
-- sequence, accepted_at, buyer) of everybody whom PostgreSQL knows, finished ones too: a repeated key
-- must not take a second unit. One call, so that nobody sees half a book; refused unless what is
-- there is older, so that a coordinator who was thought dead undoes nothing. The old outbox goes: it
-- was drained, or its epoch is sealed. Answers the pin.
local function load(keys, args)
    local epoch = whole(args[1], 1, 2 ^ 53)
    local terms = packed_terms(args, 2)
    local total, available = whole(args[9], 0, 2 ^ 32 - 1), whole(args[10], 0, 2 ^ 32 - 1)
    local units_held, units_sold = whole(args[11], 0, 2 ^ 32 - 1), whole(args[12], 0, 2 ^ 32 - 1)
    if not epoch or not terms then return malformed('terms') end
    if not total or not available or not units_held or not units_sold or
        available + units_held + units_sold ~= total then
        return malformed('stock')
    end
    if #args % 2 ~= 0 then return malformed('takes') end

    local fields, rights, slots, last = {'epoch', args[1], 'terms', terms}, {}, 0, 0
    for at = 13, #args, 2 do
        local purchase, take = args[at], args[at + 1]
        if #purchase ~= id_bytes or #take <= take_bytes or #take > take_bytes + buyer_bytes_max then
            return malformed('take')
        end
        local state, units, _, _, accepted_at = struct.unpack(take_form, take)
        if state > open or units < 1 then return malformed('take') end
        last = math.max(last, accepted_at)
        if state == open then slots = slots + units end
        if state ~= finished then
            local buyer = 'b' .. string.sub(take, take_bytes + 1)
            rights[buyer] = with_right(rights[buyer], units, purchase)
        end
        fields[#fields + 1] = 'p' .. purchase
        fields[#fields + 1] = take
        fields[#fields + 1] = 'l' .. (at - 11) / 2
        fields[#fields + 1] = purchase
    end
    fields[#fields + 1] = 'loaded'
    fields[#fields + 1] = (#args - 12) / 2
    for buyer, right in pairs(rights) do
        fields[#fields + 1] = buyer
        fields[#fields + 1] = right
    end

    local stored = redis.call('HMGET', keys[1], 'epoch', 'figures')
    if stored[1] and tonumber(stored[1]) >= epoch then return failure('NEWER epoch ' .. stored[1]) end
    if stored[2] then
        local _, _, _, _, _, _, last_before = struct.unpack(figures_form, stored[2])
        last = math.max(last, last_before)
    end
    fields[#fields + 1] = 'figures'
    fields[#fields + 1] = struct.pack(figures_form, total, available, units_held, units_sold, slots, 0, last)
    redis.call('UNLINK', keys[1], keys[2])
    for first = 1, #fields, 2 * entries_max do
        redis.call('HSET', keys[1], unpack(fields, first, math.min(first + 2 * entries_max - 1, #fields)))
    end
    return pin_now()
end

-- No ARGV. Answers the pin, then, where there is a book: epoch, terms, figures, entries in the outbox, how many
-- purchases were loaded, and when the last one was taken, in ms; 0 where none was in this epoch.
-- Not fenced: this is how somebody without a lease learns what is there.
local function peek(keys)
    local stored = redis.call('HMGET', keys[1], 'epoch', 'terms', 'figures', 'loaded')
    if not stored[1] then return {pin_now()} end
    local _, _, _, _, _, sequence = struct.unpack(figures_form, stored[3])
    local taken_at = 0
    if sequence > 0 then
        local last = redis.call('HGET', keys[1], 'p' .. redis.call('HGET', keys[1], 'k' .. sequence))
        local _, _, _, _, accepted_at = struct.unpack(take_form, last)
        taken_at = accepted_at
    end
    return {pin_now(), tonumber(stored[1]), stored[2], stored[3], redis.call('XLEN', keys[2]), tonumber(stored[4]),
        taken_at}
end

-- ARGV: pin, epoch, how many are known already, count at most. All purchases that the book knows have a place:
-- those that were loaded, then those that were taken, by their sequence. Answers purchase and buyer in one of
-- each behind the known.
local function winners(keys, args)
    local after, count = whole(args[3], 0, 2 ^ 53), whole(args[4], 1, entries_max)
    if not after or not count then return malformed('range') end
    local stored = redis.call('HMGET', keys[1], 'epoch', 'loaded')
    local fault = fenced(args, stored[1])
    if fault then return fault end
    local loaded = tonumber(stored[2])
    local places = {}
    for place = after + 1, after + count do
        places[#places + 1] = place <= loaded and 'l' .. place or 'k' .. (place - loaded)
    end
    local fields = {}
    for _, purchase in ipairs(redis.call('HMGET', keys[1], unpack(places))) do
        if not purchase then break end  -- there are no more
        fields[#fields + 1] = 'p' .. purchase
    end
    if #fields == 0 then return {} end
    local answers = redis.call('HMGET', keys[1], unpack(fields))
    for i, take in ipairs(answers) do answers[i] = string.sub(fields[i], 2) .. string.sub(take, take_bytes + 1) end
    return answers
end

-- ARGV: pin, epoch; then purchases. Answers for each whether it is pending, and the take; '' where it is
-- unknown.
local function find(keys, args)
    local fields = purchase_fields(args, 3, 1, {'epoch'})
    if not fields then return malformed('purchases') end
    local stored = redis.call('HMGET', keys[1], unpack(fields))
    local fault = fenced(args, stored[1])
    if fault then return fault end
    local answers = {}
    for i = 2, #fields do
        answers[#answers + 1] = ''
        if stored[i] then
            local _, _, epoch, sequence = struct.unpack(take_form, stored[i])
            answers[#answers] = (is_pending(keys[2], args[2], epoch, sequence) and '\1' or '\0') .. stored[i]
        end
    end
    return answers
end

-- ARGV: pin, epoch, time, ms that an entry must have waited, sequence to begin behind, count at most.
-- Answers purchase and take in one, and the purchase that it replaces or '', of each entry.
local function outbox(keys, args)
    local age, after, count = whole(args[4], 0, 2 ^ 53), whole(args[5], 0, 2 ^ 53), whole(args[6], 1, entries_max)
    if not age or not after or not count then return malformed('range') end
    local fault = fenced(args, redis.call('HGET', keys[1], 'epoch'))
    if fault then return fault end
    local now = now_ms(args[3])
    local answers = {}
    local found = redis.call('XRANGE', keys[2], '(' .. outbox_id(args[2], after), '+', 'COUNT', count)
    for _, entry in ipairs(found) do
        local values = entry[2]
        local _, _, _, _, accepted_at = struct.unpack(take_form, values[2], id_bytes + 1)
        local waited = now - accepted_at
        -- Those behind it are younger still. From the future: the clock was set back, and nobody knows how long.
        if waited >= 0 and waited < age then break end
        answers[#answers + 1] = values[2]
        answers[#answers + 1] = values[4] or ''
    end
    return answers
end

local reads = {'no-writes'}
redis.register_function('doorbuster_reserve', reserve)
-- Frees memory, so it also runs where there is none left.
redis.register_function{function_name = 'doorbuster_done', callback = done, flags = {'allow-oom'}}
redis.register_function('doorbuster_release', release)
redis.register_function('doorbuster_sell', sell)
redis.register_function('doorbuster_restock', restock)
redis.register_function('doorbuster_set_state', set_state)
redis.register_function('doorbuster_load', load)
redis.register_function{function_name = 'doorbuster_peek', callback = peek, flags = reads}
redis.register_function{function_name = 'doorbuster_winners', callback = winners, flags = reads}
redis.register_function{function_name = 'doorbuster_find', callback = find, flags = reads}
redis.register_function{function_name = 'doorbuster_outbox', callback = outbox, flags = reads}
