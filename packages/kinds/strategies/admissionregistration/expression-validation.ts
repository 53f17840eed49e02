import type {
  Declarations,
  expressionResults as resultTypes,
} from '../../admission-cel/admission-environment.ts'
import { expressions } from '../../expressions/expressions.ts'
import { fieldInvalid, fieldRequired } from '@skerry/api'
import type { Found } from '../checks.ts'

export interface ExpressionCheck {
  readonly expression: string
  readonly declared: Declarations
  readonly result: keyof typeof resultTypes | 'any'
  /** The field's own text, if the expression was trimmed. */
  readonly shown?: string
}

/** Checks that the expression compiles, and to the type that its field requires. */
export function checkExpression(check: ExpressionCheck, field: string, found: Found): void {
  const { expression, declared, result, shown = expression } = check
  const { compileExpression, expressionResults } = expressions()
  const results = result === 'any' ? [] : expressionResults[result]
  const compiled = compileExpression(declared, expression, results)
  if ('error' in compiled) found.push(fieldInvalid(field, shown, compiled.error))
}

export function checkVariable(
  { name = '', expression = '' }: { name?: string; expression?: string },
  declared: Declarations,
  { path, found }: { path: string; found: Found },
): void {
  if (!name.trim()) found.push(fieldRequired(`${path}.name`, 'name is not specified'))
  else if (!isIdentifier(name)) {
    found.push(fieldInvalid(`${path}.name`, name, 'must be a valid CEL identifier'))
  }
  const field = `${path}.expression`
  if (!expression.trim()) found.push(fieldRequired(field, 'expression is not specified'))
  else checkExpression({ expression, declared, result: 'any' }, field, found)
}

const reserved: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])

function isIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name)
}
