/** Proves that a library function costs more steps the more work it does, in units instead of time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { kubeFunctions } from '../interpreter/custom/kube-library.ts'
import { baseFunctions } from './lua-base-library.ts'
import { jsonOf } from './lua-json.ts'
import { LuaLibraries } from './lua-libraries.ts'
import { mathFunctions } from './lua-math-library.ts'
import { osFunctions } from './lua-os-library.ts'
import { readLuaScript } from './lua-script.ts'
import { stringFunctions } from './lua-string-library.ts'
import { tableFunctions } from './lua-table-library.ts'
import { decimalIn, LuaError, LuaLimitError } from './lua-value.ts'
import { luaLimits } from './limits-table.ts'

const os = osFunctions({ now: () => 0 })
const surroundings = { globals: { os }, modules: { kube: kubeFunctions } }
const libraries = new LuaLibraries(surroundings)

/** `prepare` creates the function's arguments, of a size `n`; its cost does not count. */
interface Cost {
  readonly prepare?: string
  /** A part of the call with its own cost, which does not count either. */
  readonly given?: string
  readonly call: string
}

const text = 'local s = ("a"):rep(n)'
const row = 'local t = {} for i = 1, n do t[i] = i end'
const holes = `${row} for i = 1, n - 1 do t[i] = nil end`
const gone =
  'local t = {} for i = 1, n do t["k" .. i] = i end for i = 1, n do t["k" .. i] = nil end'
const list = 'local t = {} for i = 1, n / 10 do t[i] = i end'
const digits = 'local s = (" "):rep(390) .. "1" local t = {} for i = 1, n / 10 do t[i] = s end'

/** Functions whose work grows with their arguments. */
const growing: Readonly<Record<string, readonly Cost[]>> = {
  ipairs: [{ prepare: row, call: 'for _ in ipairs(t) do end' }],
  next: [
    { prepare: holes, call: 'next(t)' },
    { prepare: gone, call: 'next(t)' },
    { prepare: `${row} t[1] = nil`, call: 'local k repeat k = next(t, k) until k == nil' },
  ],
  pairs: [
    { prepare: row, call: 'for _ in pairs(t) do end' },
    {
      prepare: `local t = {1} for i = 2, n do t[i] = i end for i = 2, n - 1 do t[i] = nil end`,
      call: 'for _ in pairs(t) do end',
    },
    { prepare: gone, call: 'for _ in pairs(t) do end' },
  ],
  select: [{ prepare: list, given: 'unpack(t)', call: 'select(2, unpack(t))' }],
  unpack: [{ prepare: list, call: 'unpack(t)' }],
  tonumber: [
    { prepare: 'local s = ("1"):rep(n / 20)', call: 'tonumber(s, 16)' },
    { prepare: 'local s = (" "):rep(n / 50)', call: 'tonumber(s)' },
  ],
  'string.byte': [{ prepare: 'local s = ("a"):rep(n / 10)', call: 's:byte(1, -1)' }],
  'string.char': [{ prepare: list, given: 'unpack(t)', call: 'string.char(unpack(t))' }],
  'string.find': [
    { prepare: text, call: 's:find("b", 1, true)' },
    { prepare: text, call: '(""):find(s)' },
    { prepare: text, call: 's:find("[b]")' },
    {
      prepare: 'local p = "(a)" .. ("%a"):rep(n / 20) local s = ("a"):rep(n)',
      call: 's:find(p)',
    },
  ],
  'string.format': [
    { prepare: text, call: 'string.format(s)' },
    { prepare: text, call: 'string.format("%s", s)' },
    { prepare: text, call: 'string.format("%q", s)' },
    { prepare: 'local s = ("%%"):rep(n)', call: 'string.format(s)' },
  ],
  'string.gmatch': [{ prepare: text, call: 'for _ in s:gmatch(".") do end' }],
  'string.gsub': [
    { prepare: text, call: 's:gsub(".", "%0")' },
    { prepare: 'local s = ("%0"):rep(n)', call: '("b"):gsub("a*", s)' },
    { prepare: text, call: 's:gsub("b", "")' },
  ],
  'string.lower': [{ prepare: text, call: 's:lower()' }],
  'string.match': [
    { prepare: text, call: 's:match("b")' },
    { prepare: 'local p = "[" .. ("a"):rep(n) .. "]"', call: '(""):match(p)' },
    { prepare: 'local p = "[" .. ("a"):rep(n) .. "]"', call: '("b"):match(p)' },
    { prepare: 'local s = ("("):rep(n)', call: 's:match("^%b()")' },
    { prepare: text, call: '(s .. s):match("^(" .. s .. ")%1")' },
  ],
  'string.rep': [{ call: '("a"):rep(n)' }],
  'string.reverse': [{ prepare: text, call: 's:reverse()' }],
  'string.sub': [{ prepare: text, call: 's:sub(1, -1)' }],
  'string.upper': [{ prepare: text, call: 's:upper()' }],
  'table.concat': [
    { prepare: row, call: 'table.concat(t)' },
    { prepare: `${text} local t = {s, s}`, call: 'table.concat(t)' },
  ],
  'table.insert': [{ prepare: row, call: 'table.insert(t, 1, 0)' }],
  'table.maxn': [
    { prepare: row, call: 'table.maxn(t)' },
    { prepare: gone, call: 'table.maxn(t)' },
  ],
  'table.remove': [{ prepare: row, call: 'table.remove(t, 1)' }],
  'table.sort': [
    { prepare: row, call: 'table.sort(t)' },
    { prepare: holes, call: 'table.sort(t)' },
  ],
  'table.unpack': [{ prepare: list, call: 'table.unpack(t)' }],
  'math.max': [{ prepare: digits, given: 'unpack(t)', call: 'math.max(unpack(t))' }],
  'math.min': [{ prepare: digits, given: 'unpack(t)', call: 'math.min(unpack(t))' }],
  'os.date': [{ prepare: 'local s = ("%%"):rep(n)', call: 'os.date(s)' }],
  'kube.resourceAdd': [
    {
      prepare: 'local t = {} for i = 1, n / 10 do t[i] = "1" end',
      given: 'unpack(t)',
      call: 'kube.resourceAdd(unpack(t))',
    },
  ],
  'kube.accuratePodRequirements': [
    {
      prepare: 'local t = {} for i = 1, n do t[i] = { name = "a" } end',
      call: 'kube.accuratePodRequirements({ spec = { containers = t } })',
    },
  ],
  'kube.getPodDependencies': [
    {
      prepare: 'local t = {} for i = 1, n do t[i] = { name = "a" } end',
      call: 'kube.getPodDependencies({ spec = { volumes = t } }, "a")',
    },
  ],
  // Operators, which belong to no library.
  '..': [{ prepare: text, call: 's = s .. s' }],
  '==': [{ prepare: `${text} local u = ("a"):rep(n)`, call: 's = s == u' }],
  '<': [{ prepare: `${text} local u = ("a"):rep(n)`, call: 's = s < u' }],
  'a key': [{ prepare: `${text} local t = {}`, call: 't = t[s]' }],
  'a number of a text': [{ prepare: 'local s = (" "):rep(n / 60) .. "1"', call: 's = s + s' }],
  'a table': [{ call: 'local t = {} for i = 1, n do t[i] = {} end' }],
}

/** Functions whose work does not depend on their arguments, and why. */
const constant: Readonly<Record<string, string>> = {
  assert: 'gives back its arguments, which the call has paid for',
  error: 'a text is not copied; pcall pays for the error',
  pcall: 'hands on its arguments, which the call has paid for',
  xpcall: 'as pcall',
  print: 'does nothing',
  tostring: 'gives back a text, or writes one number',
  type: 'one of eight words',
  'string.len': 'is known',
  'table.getn': 'is known',
  'os.time': 'reads six fields',
  'kube.getResourceQuantity': 'a quantity has a bounded length',
  ...Object.fromEntries(
    Object.keys(mathFunctions)
      .filter((name) => name !== 'max' && name !== 'min')
      .map((name) => [`math.${name}`, 'of numbers, each of a bounded length']),
  ),
  ...Object.fromEntries(
    'collectgarbage dofile getfenv getmetatable load loadfile loadstring rawequal rawget rawset setfenv setmetatable module newproxy'
      .split(' ')
      .map((name) => [name, 'is refused']),
  ),
}

function costOf({ prepare = '', call }: Cost, n: number): number {
  const wrapped =
    call.startsWith('for ') || /^(local|s|t) /.test(call)
      ? call
      : `pcall(function() local _ = ${call} end)`
  const script = `local kube = require("kube")
    function prepare(n) ${prepare} return function() ${wrapped} end end`
  return readLuaScript(script, libraries).call(
    'prepare',
    () => [n],
    ([body], run) => {
      const before = run.used
      if (typeof body !== 'object' || !('body' in body)) throw new Error('no function')
      body.body([], run)
      return run.used - before
    },
  )
}

function ownCostOf(cost: Cost, n: number): number {
  const { given } = cost
  return costOf(cost, n) - (given === undefined ? 0 : costOf({ ...cost, call: given }, n))
}

test('each library function is charged for its work', () => {
  const names = [
    ...Object.keys(baseFunctions),
    ...Object.entries({
      string: stringFunctions,
      table: tableFunctions,
      math: mathFunctions,
      os,
      kube: kubeFunctions,
    }).flatMap(([library, functions]) =>
      Object.keys(functions).map((name) => `${library}.${name}`),
    ),
  ]
  for (const name of names) {
    assert.ok(name in growing || name in constant, `${name} is in neither list: what does it cost?`)
  }
  for (const [name, costs] of Object.entries(growing)) {
    for (const cost of costs) {
      const [small, large] = [ownCostOf(cost, 2_000), ownCostOf(cost, 20_000)]
      const shown = `${name}: ${cost.call} after ${cost.prepare ?? ''} costs ${small}, then ${large}`
      // Ten times the work; calls and statements around it cost the same.
      assert.ok(large - small >= 0.5 * 9 * small - 300, shown)
      assert.ok(large - small > 20, shown)
    }
  }
})

test('a table that is emptied from its front costs as much as it has elements', () => {
  const drain = (fill: string) => (n: number) =>
    costOf(
      {
        prepare: fill,
        call: 'for _ = 1, 2 * n do local k = next(t) if k == nil then break end t[k] = nil end',
      },
      n,
    )
  for (const fill of [row, 'local t = {} for i = 1, n do t["k" .. i] = i end']) {
    const cost = drain(fill)
    assert.ok(cost(20_000) < 12 * cost(2_000), fill)
  }
})

test('a walk sees each element once, whatever is removed meanwhile', () => {
  const script = `
    function f(n)
      local t, seen = {}, 0
      for i = 1, n do t[i] = i t["k" .. i] = i end
      local k = next(t)
      while k ~= nil do
        seen = seen + 1
        t[k] = nil
        k = next(t, k)
      end
      for i = 1, n do t["k" .. i] = i end
      for key in pairs(t) do seen = seen + 1 t[key] = nil end
      return seen, next(t) == nil, pcall(next, t, "never")
    end`
  const found = readLuaScript(script).call(
    'f',
    () => [500],
    (results) => results,
  )
  assert.deepEqual(found.slice(0, 3), [1_500, true, false])
})

test('one long statement, and many parameters, cost as much as their contents', () => {
  const used = (body: string): number =>
    readLuaScript(`function f() ${body} end`, libraries).call(
      'f',
      () => [],
      (_, run) => run.steps,
    )
  const sum = (count: number) => `local x = ${Array.from({ length: count }, () => '1').join('+')}`
  assert.ok(used(sum(400)) - used(sum(4)) > 90)
  const names = Array.from({ length: 800 }, (_, at) => `a${at}`).join(', ')
  assert.ok(used(`local function g(${names}) end g()`) - used('local function g() end g()') > 190)
  assert.ok(used(`local ${names} = 1`) > 90)
  const turns = (what: string) => used(`for ${what} in pairs({1, 2, 3, 4}) do end`)
  assert.ok(turns(names) - turns('a') > 300)
})

test('an error that a script catches costs as much as the engine takes to raise it', () => {
  const call = (body: string): number =>
    readLuaScript(`function f() ${body} end`).call(
      'f',
      () => [],
      (_, run) => run.steps,
    )
  assert.ok(call('pcall(error)') - call('pcall(print)') >= 50)
})

test('an operation that takes the engine long is charged as much, whatever its arguments', () => {
  const cost = (call: string): number =>
    readLuaScript(
      `local kube = require("kube") function f() local _ = ${call} end`,
      libraries,
    ).call(
      'f',
      () => [],
      (_, run) => run.steps,
    )
  const fails = (depth: number): string =>
    `(function() local function g(k) if k == 0 then error("a") end return 1 + g(k - 1) end pcall(g, ${depth}) end)()`
  const calls = (depth: number): string => fails(depth).replace('error("a")', 'return 1')
  // An expensive call, a similar cheap one, and the least difference of their costs.
  const table: readonly (readonly [dear: string, cheap: string, more: number])[] = [
    ['math.fmod(1e308, 3)', 'math.fmod(5, 3)', 20],
    ['math.mod(1e308, 3)', 'math.abs(3)', 20],
    ['string.format("%.99g", 0.1)', 'string.format("%.1g", 0.1)', 90],
    ['os.date("%c")', 'os.time()', 15],
    ['os.date("*t")', 'os.time()', 60],
    ['os.date("%c%c%c%c")', 'os.date("%c")', 24],
    ['kube.getResourceQuantity("1Gi")', 'tostring("1Gi")', 10],
  ]
  for (const [dear, cheap, more] of table) {
    assert.ok(cost(dear) - cost(cheap) >= more, `${dear}: ${cost(dear)}, ${cheap}: ${cost(cheap)}`)
  }
  // An error passes through each call that it ends.
  assert.ok(cost(fails(150)) - cost(calls(150)) >= cost(fails(1)) - cost(calls(1)) + 1_000)
  assert.ok(cost('math.fmod(math.huge, 3)') < 10)
})

test('a text is a number in another base by its own digits alone', () => {
  const numbers: readonly (readonly [text: string, base: number, number: number | undefined])[] = [
    ['ff', 16, 255],
    [' Z ', 36, 35],
    ['102', 2, undefined],
    ['', 10, undefined],
    ['1', 2, 1],
    ['g', 16, undefined],
    ['1:', 36, undefined],
    ['@', 36, undefined],
    ['`', 36, undefined],
    ['/', 36, undefined],
    ['1'.repeat(1_000), 36, 36 ** 1_000],
  ]
  for (const [text, base, number] of numbers) {
    const script = `function f() return tonumber(${JSON.stringify(text)}, ${base}) end`
    const [found] = readLuaScript(script).call(
      'f',
      () => [],
      (results) => results,
    )
    assert.equal(found, number, `${text} in base ${base}`)
  }
})

test('a result that is shared in many places costs as much as its written form', () => {
  const script = `function f() local s = ("\\195\\169"):rep(50000) local t = {} for i = 1, 1000 do t[i] = s end return t end`
  assert.throws(
    () =>
      readLuaScript(script, libraries).call(
        'f',
        () => [],
        (results, run) => results.map((each) => jsonOf(each, [], run)),
      ),
    LuaLimitError,
  )
})

test('a text that is almost a number is read once, however long it is', () => {
  // If each digit were tried in two places, this would take minutes.
  const digits = '1'.repeat(1_000_000)
  for (const text of [`${digits}x`, `1.${digits}x`, `.${digits}e${digits}x`, `${digits}e`]) {
    assert.equal(decimalIn(text), undefined)
  }
  assert.equal(decimalIn(` ${digits}. `), `${digits}.`)
})

test('a call ends by the clock as well', () => {
  let ms = 0
  // Each look takes long, whatever the steps.
  const timer = { monotonicMs: () => (ms += 100) }
  const slow = new LuaLibraries({ ...surroundings, timer })
  for (const body of ['while true do end', 'for i = 1, 1000 do print() end']) {
    assert.throws(
      () =>
        readLuaScript(`function f() ${body} end`, slow).call(
          'f',
          () => [],
          (results) => results,
        ),
      /more than 1000 ms/,
    )
  }
  assert.ok(ms < 3_000)
})

const hostile = [
  's = s .. s',
  's = s:rep(3)',
  's = s:lower() .. "A%b"',
  'pcall(string.find, s, s)',
  'pcall(string.find, s, "(.-)%1" .. s:sub(1, 3) .. "$")',
  'pcall(string.gsub, s, ".-", s)',
  'pcall(string.gsub, s, "", "%0%0")',
  'pcall(string.format, s, s)',
  'for w in s:gmatch("[^%s]*") do t[#t + 1] = w end',
  'pcall(tonumber, s, 36)',
  't[#t + 1] = s',
  't[s] = t',
  't["k" .. #t] = {s, t}',
  'local k = next(t) if k ~= nil then t[k] = nil end',
  'for k in pairs(t) do t[k] = nil end',
  'for i = 1, #t do t[i] = nil end',
  'pcall(table.concat, t, s)',
  'pcall(table.sort, t)',
  'pcall(table.sort, t, function(a, b) return true end)',
  'pcall(table.insert, t, 1, s)',
  'pcall(table.remove, t, 1)',
  'pcall(error, s)',
  'local f = function(...) return select("#", ...) end pcall(f, unpack(t))',
  's = s:reverse() .. tostring(#s)',
  'pcall(string.char, unpack(t))',
  'pcall(string.byte, s, 1, -1)',
  'local n = 0 while n < 100 do n = n + #s + 1 end',
  'pcall(os.date, s)',
  'pcall(math.max, unpack(t))',
  't = {t, t, s, s}',
  's = s:sub(2, -2) == s and s or s:upper()',
]

test('hostile scripts end within the limits of a call', () => {
  const seed = 20261123
  const random = seededRandom(seed)
  const pick = () => hostile[Math.floor(random.next() * hostile.length)] ?? ''
  for (let count = 0; count < 60; count += 1) {
    const body = Array.from({ length: 1 + (count % 6) }, pick).join('\n')
    const script = `function f() local s, t = "aA%1 0", {} while true do ${body}\nend end`
    const run = libraries.startRun()
    const shown = `seed ${seed}, script ${count}: ${body}`
    const asked = () =>
      readLuaScript(script, libraries).call(
        'f',
        () => [],
        (results) => results,
        run,
      )
    assert.throws(asked, (error) => {
      assert.ok(error instanceof LuaLimitError || error instanceof LuaError, shown)
      return true
    })
    // Work that would exceed the limit is not begun.
    assert.ok(run.used <= luaLimits.stepsMax + luaLimits.bytesMax / 32, shown)
  }
})
