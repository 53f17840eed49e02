/** The syntax tree of Lua 5.1 with resolved names: a local one has its slot. */
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

/** The possible targets of an assignment. */
export type LuaPlace =
  | { readonly type: 'local'; readonly slot: number }
  /** A local of an enclosing function. */
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
  /** The method of `object:method()`, whose first argument is the object. */
  readonly method?: string
  readonly args: readonly LuaExpression[]
  readonly line: number
}

export interface LuaField {
  /** If omitted, the next index of the list. */
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
  /** The body can refer to the function's own name. */
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

/** A function in the source. */
export interface LuaProto {
  readonly name: string
  readonly parameters: readonly number[]
  readonly hasVarargs: boolean
  readonly slotCount: number
  /** The variables that it captures from the enclosing function when it is created. */
  readonly captures: readonly { readonly from: 'local' | 'captured'; readonly index: number }[]
  readonly body: LuaBlock
}
