/** The syntax tree of Lua 5.1; names are resolved: a local one says where it lies. */
export type LuaExpression =
  | { readonly type: 'constant'; readonly value: undefined | boolean | number | string }
  | { readonly type: 'varargs' }
  | { readonly type: 'function'; readonly proto: LuaProto }
  | LuaPlace
  | LuaCall
  | { readonly type: 'parens'; readonly inner: LuaExpression }
  | { readonly type: 'and' | 'or'; readonly left: LuaExpression; readonly right: LuaExpression }
  | LuaBinary
  | { readonly type: 'not'; readonly operand: LuaExpression }
  | { readonly type: 'minus' | 'length'; readonly operand: LuaExpression; readonly line: number }
  | { readonly type: 'table'; readonly fields: readonly LuaField[] }

export interface LuaBinary {
  readonly type: 'binary'
  readonly operator: LuaBinaryOperator
  readonly left: LuaExpression
  readonly right: LuaExpression
  readonly line: number
}

export type LuaBinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^'
  | '..'
  | '=='
  | '~='
  | '<'
  | '<='
  | '>'
  | '>='

/** What can be assigned to. */
export type LuaPlace =
  | { readonly type: 'local'; readonly slot: number }
  /** A local of a function around this one. */
  | { readonly type: 'captured'; readonly index: number }
  | { readonly type: 'global'; readonly name: string }
  | {
      readonly type: 'index'
      readonly object: LuaExpression
      readonly key: LuaExpression
      readonly line: number
    }

export interface LuaCall {
  readonly type: 'call'
  readonly callee: LuaExpression
  /** Of `object:method()`: the object is the first argument. */
  readonly method?: string
  readonly args: readonly LuaExpression[]
  readonly line: number
}

export interface LuaField {
  /** Absent: the next one in the row. */
  readonly key?: LuaExpression
  readonly value: LuaExpression
}

export type LuaStatement =
  | { readonly type: 'call-statement'; readonly call: LuaCall }
  | {
      readonly type: 'local-statement'
      readonly slots: readonly number[]
      readonly values: readonly LuaExpression[]
    }
  /** Its body knows its own name. */
  | { readonly type: 'local-function'; readonly slot: number; readonly proto: LuaProto }
  | {
      readonly type: 'assign'
      readonly places: readonly LuaPlace[]
      readonly values: readonly LuaExpression[]
    }
  | { readonly type: 'do'; readonly body: LuaBlock }
  | { readonly type: 'while'; readonly condition: LuaExpression; readonly body: LuaBlock }
  | { readonly type: 'repeat'; readonly body: LuaBlock; readonly until: LuaExpression }
  | {
      readonly type: 'if'
      readonly clauses: readonly { readonly condition: LuaExpression; readonly body: LuaBlock }[]
      readonly otherwise?: LuaBlock
    }
  | {
      readonly type: 'for'
      readonly slot: number
      readonly from: LuaExpression
      readonly to: LuaExpression
      readonly by?: LuaExpression
      readonly body: LuaBlock
      readonly line: number
    }
  | {
      readonly type: 'for-in'
      readonly slots: readonly number[]
      readonly values: readonly LuaExpression[]
      readonly body: LuaBlock
      readonly line: number
    }
  | { readonly type: 'return'; readonly values: readonly LuaExpression[] }
  | { readonly type: 'break' }

export type LuaBlock = readonly LuaStatement[]

/** A function as it is written. */
export interface LuaProto {
  readonly name: string
  readonly parameters: readonly number[]
  readonly hasVarargs: boolean
  readonly slotCount: number
  /** What it takes of the function around it when it is made. */
  readonly captures: readonly { readonly from: 'local' | 'captured'; readonly index: number }[]
  readonly body: LuaBlock
}
