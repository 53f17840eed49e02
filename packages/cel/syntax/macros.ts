import type { CallExpr, ComprehensionExpr, Expr } from './expr.ts'
import type { Problem } from './source.ts'

/** Macros that an environment may add to has(), all() and the like. */
export type MacroGroup = 'optional' | 'two-variable' | 'bind' | 'sort-by'

/** The accumulator of comprehensions. The name cannot be written in an expression. */
export const accumulator = '@result'

type Expand = (call: CallExpr, found: Problem[]) => Expr

interface Macro {
  readonly group?: MacroGroup
  readonly expand: Expand
}

/** Returns the expansion of a call, or the call itself if it is not a macro. */
export function expandMacro(
  call: CallExpr,
  groups: ReadonlySet<MacroGroup>,
  problems: Problem[],
): Expr {
  const style = call.target ? 'member' : 'plain'
  const macro = macros[`${style} ${call.name} ${call.args.length}`]
  if (!macro || (macro.group && !groups.has(macro.group))) return call
  if (macro.group === 'bind' && !isNamed(call.target, 'cel')) return call
  const found: Problem[] = []
  const expanded = macro.expand(call, found)
  problems.push(...found)
  return found.length > 0 ? call : expanded
}

function isNamed(expr: Expr | undefined, name: string): boolean {
  return expr?.kind === 'ident' && expr.name === name
}

const plainHas: Expand = (call, found) => {
  const [field] = call.args
  if (field?.kind === 'select' && !field.isTest) return { ...field, at: call.at, isTest: true }
  found.push({ at: field?.at ?? call.at, message: 'invalid argument to has() macro' })
  return call
}

interface Loop {
  readonly init: (make: Maker) => Expr
  readonly condition: (make: Maker) => Expr
  readonly step: (make: Maker, args: readonly Expr[]) => Expr
  readonly result: (make: Maker) => Expr
}

const quantifiers: Readonly<Record<'all' | 'exists' | 'existsOne', Loop>> = Object.freeze({
  all: {
    init: (make) => make.literal(true),
    condition: (make) => make.call('@not_strictly_false', make.accu()),
    step: (make, [predicate]) => make.call('_&&_', make.accu(), predicate),
    result: (make) => make.accu(),
  },
  exists: {
    init: (make) => make.literal(false),
    condition: (make) => make.call('@not_strictly_false', make.call('!_', make.accu())),
    step: (make, [predicate]) => make.call('_||_', make.accu(), predicate),
    result: (make) => make.accu(),
  },
  existsOne: {
    init: (make) => make.literal(0n),
    condition: (make) => make.literal(true),
    step: (make, [predicate]) =>
      make.call('_?_:_', predicate, make.call('_+_', make.accu(), make.literal(1n)), make.accu()),
    result: (make) => make.call('_==_', make.accu(), make.literal(1n)),
  },
})

/** Collects into a list: `[filter,] transform`. */
const listLoop: Loop = {
  init: (make) => make.list(),
  condition: (make) => make.literal(true),
  step: (make, args) =>
    filtered(make, args, (value) => make.call('_+_', make.accu(), make.list(value))),
  result: (make) => make.accu(),
}

const filterLoop: Loop = {
  ...listLoop,
  step: (make, [predicate]) =>
    make.call(
      '_?_:_',
      predicate,
      make.call('_+_', make.accu(), make.list(make.item())),
      make.accu(),
    ),
}

const mapLoop: Loop = {
  ...listLoop,
  init: (make) => make.map(),
  step: (make, args) =>
    filtered(make, args, (value) => make.call('cel.@mapInsert', make.accu(), make.item(), value)),
}

const mapEntryLoop: Loop = {
  ...mapLoop,
  step: (make, args) =>
    filtered(make, args, (entry) => make.call('cel.@mapInsert', make.accu(), entry)),
}

function filtered(
  make: Maker,
  args: readonly Expr[],
  add: (value: Expr | undefined) => Expr,
): Expr {
  const added = add(args.at(-1))
  return args.length > 1 ? make.call('_?_:_', args[0], added, make.accu()) : added
}

/** Creates expressions at the macro's position. */
class Maker {
  readonly #at: number
  readonly #item: string
  constructor(at: number, item: string) {
    this.#at = at
    this.#item = item
  }
  literal(value: boolean | bigint): Expr {
    return { kind: 'literal', at: this.#at, value }
  }
  ident(name: string): Expr {
    return { kind: 'ident', at: this.#at, name }
  }
  accu(): Expr {
    return this.ident(accumulator)
  }
  item(): Expr {
    return this.ident(this.#item)
  }
  call(name: string, ...args: readonly (Expr | undefined)[]): Expr {
    return { kind: 'call', at: this.#at, name, args: args.filter((arg) => arg !== undefined) }
  }
  member(target: Expr, name: string): Expr {
    return { kind: 'call', at: this.#at, name, target, args: [] }
  }
  list(...elements: readonly (Expr | undefined)[]): Expr {
    const present = elements.filter((element) => element !== undefined)
    return { kind: 'list', at: this.#at, elements: present, optionals: new Set() }
  }
  map(): Expr {
    return { kind: 'map', at: this.#at, entries: [] }
  }
}

function loopMacro(loop: Loop, variables: 1 | 2): Expand {
  return (call, found) => {
    const range = call.target ?? call
    const names = call.args
      .slice(0, variables)
      .map((arg) =>
        variableName(arg, found, variables === 1 ? 'argument must be a simple name' : undefined),
      )
    const [iterVar = '', iterVar2] = names
    if (variables === 2 && found.length === 0 && iterVar === iterVar2) {
      const at = call.args[1]?.at ?? call.at
      found.push({ at, message: `duplicate variable name: ${iterVar}` })
    }
    const make = new Maker(call.at, iterVar)
    const step = loop.step(make, call.args.slice(variables))
    const made: ComprehensionExpr = {
      kind: 'comprehension',
      at: call.at,
      range,
      iterVar,
      iterVar2,
      accuVar: accumulator,
      accuInit: loop.init(make),
      condition: loop.condition(make),
      step,
      result: loop.result(make),
    }
    return made
  }
}

function variableName(
  arg: Expr,
  found: Problem[],
  wrong = 'argument must be a simple name',
): string {
  if (arg.kind === 'ident' && !arg.name.startsWith('.')) {
    if (arg.name !== accumulator && arg.name !== '__result__') return arg.name
    found.push({ at: arg.at, message: 'iteration variable overwrites accumulator variable' })
    return arg.name
  }
  found.push({ at: arg.at, message: wrong })
  return ''
}

/** Creates a loop over nothing, whose accumulator is the variable. */
function bound(
  make: Maker,
  at: number,
  { name, value, body }: { name: string; value: Expr; body: Expr },
): Expr {
  return {
    kind: 'comprehension',
    at,
    range: make.list(),
    iterVar: '#unused',
    accuVar: name,
    accuInit: value,
    condition: make.literal(false),
    step: make.ident(name),
    result: body,
  }
}

const bindMacro: Expand = (call, found) => {
  const [variable, value, body] = call.args
  if (!variable || !value || !body) return call
  const wrong = 'cel.bind() variable names must be simple identifiers'
  const name = variableName(variable, found, wrong)
  return bound(new Maker(call.at, ''), call.at, { name, value, body })
}

function optionalMacro(name: 'optMap' | 'optFlatMap'): Expand {
  return (call, found) => {
    const { target, at, args } = call
    const [variable, body] = args
    if (!target || !variable || !body) return call
    const wrong = `${name}() variable name must be a simple identifier`
    const make = new Maker(at, '')
    const value = make.member(target, 'value')
    const inner = bound(make, at, { name: variableName(variable, found, wrong), value, body })
    return make.call(
      '_?_:_',
      make.member(target, 'hasValue'),
      name === 'optMap' ? make.call('optional.of', inner) : inner,
      make.call('optional.none'),
    )
  }
}

/** Expands `list.sortBy(e, key)`: a loop computes the keys, by which the list is sorted. */
const sortByMacro: Expand = (call, found) => {
  const { target, at, args } = call
  const [variable, key] = args
  if (!target || !variable || !key) return call
  const input = '@__sortBy_input__'
  const make = new Maker(at, variableName(variable, found))
  const keys = loopMacro(listLoop, 1)({ ...call, name: 'map', target: make.ident(input) }, found)
  const body: Expr = {
    kind: 'call',
    at,
    name: '@sortByAssociatedKeys',
    target: make.ident(input),
    args: [keys],
  }
  return bound(make, at, { name: input, value: target, body })
}

const macros: Readonly<Record<string, Macro>> = Object.freeze({
  'plain has 1': { expand: plainHas },
  'member all 2': { expand: loopMacro(quantifiers.all, 1) },
  'member exists 2': { expand: loopMacro(quantifiers.exists, 1) },
  'member exists_one 2': { expand: loopMacro(quantifiers.existsOne, 1) },
  'member existsOne 2': { expand: loopMacro(quantifiers.existsOne, 1) },
  'member map 2': { expand: loopMacro(listLoop, 1) },
  'member map 3': { expand: loopMacro(listLoop, 1) },
  'member filter 2': { expand: loopMacro(filterLoop, 1) },
  'member all 3': { group: 'two-variable', expand: loopMacro(quantifiers.all, 2) },
  'member exists 3': { group: 'two-variable', expand: loopMacro(quantifiers.exists, 2) },
  'member exists_one 3': { group: 'two-variable', expand: loopMacro(quantifiers.existsOne, 2) },
  'member existsOne 3': { group: 'two-variable', expand: loopMacro(quantifiers.existsOne, 2) },
  'member transformList 3': { group: 'two-variable', expand: loopMacro(listLoop, 2) },
  'member transformList 4': { group: 'two-variable', expand: loopMacro(listLoop, 2) },
  'member transformMap 3': { group: 'two-variable', expand: loopMacro(mapLoop, 2) },
  'member transformMap 4': { group: 'two-variable', expand: loopMacro(mapLoop, 2) },
  'member transformMapEntry 3': { group: 'two-variable', expand: loopMacro(mapEntryLoop, 2) },
  'member transformMapEntry 4': { group: 'two-variable', expand: loopMacro(mapEntryLoop, 2) },
  'member bind 3': { group: 'bind', expand: bindMacro },
  'member optMap 2': { group: 'optional', expand: optionalMacro('optMap') },
  'member optFlatMap 2': { group: 'optional', expand: optionalMacro('optFlatMap') },
  'member sortBy 2': { group: 'sort-by', expand: sortByMacro },
})
