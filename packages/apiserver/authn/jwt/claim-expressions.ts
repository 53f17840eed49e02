import { expressions } from '@skerry/kinds'
import type { CelEnvironment, CelProgram, CelValue } from '@skerry/cel'
import { TokenError } from '../token-authenticator.ts'

/** The variable that an expression of an AuthenticationConfiguration reads. */
export type ExpressionSubject = 'claims' | 'user'

/** Returns the plain value for the claims or the user. Throws TokenError if it cannot be evaluated. */
export type ClaimExpression = (subject: Readonly<Record<string, unknown>>) => unknown

const userType = 'kubernetes.UserInfo'
let known: Readonly<Record<ExpressionSubject, CelEnvironment>> | undefined

/** Created with the first expression, because most servers have none. */
function environments(): Readonly<Record<ExpressionSubject, CelEnvironment>> {
  if (known) return known
  const { celTypes, kubernetesEnvironment, listType, mapType, objectType } = expressions()
  const { string, dyn } = celTypes
  known = {
    claims: kubernetesEnvironment().extend({ variables: { claims: mapType(string, dyn) } }),
    user: kubernetesEnvironment().extend({
      variables: { user: objectType(userType) },
      types: {
        [userType]: {
          fields: {
            username: { type: string },
            uid: { type: string },
            groups: { type: listType(string) },
            extra: { type: mapType(string, listType(string)) },
          },
        },
      },
    }),
  }
  return known
}

/**
 * Returns why the expression does not compile, in upstream's words, or undefined if it does.
 * Requires loadExpressions().
 */
export function expressionProblem(
  text: string,
  subject: ExpressionSubject,
  isCondition: boolean,
): string | undefined {
  try {
    const { resultType } = environments()[subject].compile(text)
    return isCondition && resultType.kind !== 'bool' ? 'must evaluate to bool' : undefined
  } catch (error) {
    if (!(error instanceof expressions().CelCompileError)) throw error
    return `compilation failed: ${error.message}`
  }
}

/** Compiles an expression. `where` begins the message of a failure. */
export function compileClaimExpression(
  text: string,
  subject: ExpressionSubject,
  where: string,
): ClaimExpression {
  const program = environments()[subject].compile(text)
  return (value) => {
    try {
      return plain(evaluated(program, subject, value))
    } catch (error) {
      const { CelCostError, CelRuntimeError } = expressions()
      if (!(error instanceof CelRuntimeError || error instanceof CelCostError)) throw error
      const reason = `expression '${text}' resulted in error: ${error.message}`
      throw new TokenError(`${where}${reason}`, { cause: error })
    }
  }
}

function evaluated(program: CelProgram, subject: ExpressionSubject, value: unknown): CelValue {
  return program.evaluate({ [subject]: value }).value
}

/** Returns true if the expression reads `claims.<field>`. Quoted texts do not count. */
export function readsClaim(text: string, field: string): boolean {
  const code = text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
  return new RegExp(String.raw`\bclaims\s*\.\s*\??\s*${field}\b`).test(code)
}

/** Converts lists to arrays. Texts and booleans stay as they are. */
function plain(value: CelValue): unknown {
  const isList = typeof value === 'object' && value !== null && 'celKind' in value
  if (!isList || value.celKind !== 'list') return value
  return Array.from({ length: value.size }, (_each, at) => value.at(at))
}
