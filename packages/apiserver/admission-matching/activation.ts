import {
  authorizerValue,
  resourceCheckValue,
  variablesTypeName,
  type Compiled,
  type NamedExpression,
} from '@skerry/kinds'
import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import {
  CelCostError,
  CelRuntimeError,
  type Bindings,
  type CelObject,
  type CelValue,
} from '@skerry/cel'
import { namespaceOf } from './request-match.ts'
import { reviewRequest, type ReviewSubject } from './admission-review.ts'
import type { AuthorizerSession } from './authorizer-session.ts'
import { policyLimits } from '../limits-table.ts'

/** The data that expressions about one request may read. */
export interface ActivationInput {
  readonly subject: ReviewSubject
  readonly params?: AnyObject | undefined
  readonly namespace?: AnyObject | undefined
  /** Omitted where expressions may not ask the authorizer, as in messages. */
  readonly session?: AuthorizerSession
  /** The policy's own variables, in their order. */
  readonly variables?: readonly NamedExpression[]
}

export type Evaluated =
  | { readonly type: 'value'; readonly value: CelValue }
  | { readonly type: 'error'; readonly message: string }

/** Reports that the budget that all expressions of a group share is spent. */
export class BudgetError extends Error {
  override name = 'BudgetError'
}

const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/**
 * Evaluates one group of expressions over one request. Each variable is evaluated when first read.
 */
export class Activation {
  remaining: number
  readonly #bindings: Bindings
  readonly #variables = new Map<string, Compiled>()
  readonly #values = new Map<string, CelValue>()

  constructor(input: ActivationInput, budget: number) {
    this.remaining = budget
    for (const { name, compiled } of input.variables ?? []) this.#variables.set(name, compiled)
    this.#bindings = { ...bindingsOf(input), variables: this.#composition() }
  }

  /** Throws BudgetError if the group has exceeded its budget. */
  evaluate(compiled: Compiled): Evaluated {
    if ('error' in compiled) {
      return { type: 'error', message: `compilation error: ${compiled.error}` }
    }
    try {
      const { value, cost } = this.#run(compiled)
      this.#spend(cost)
      return { type: 'value', value }
    } catch (error) {
      if (error instanceof CelCostError) this.#spend(policyLimits.callCostMax)
      else if (!(error instanceof CelRuntimeError)) throw error
      const why = `expression '${compiled.text}' resulted in error: ${error.message}`
      return { type: 'error', message: why }
    }
  }

  #run({ program }: Extract<Compiled, { program: unknown }>) {
    return program.evaluate(this.#bindings, { costLimit: policyLimits.callCostMax })
  }

  #spend(cost: number): void {
    if (cost > this.remaining) throw new BudgetError(outOfBudget)
    this.remaining -= cost
  }

  #composition(): CelObject {
    return {
      celKind: 'object',
      typeName: variablesTypeName,
      get: (name) => (this.#variables.has(name) ? this.#variable(name) : undefined),
      fields: () => this.#variables.keys(),
    }
  }

  #variable(name: string): CelValue {
    const known = this.#values.get(name)
    if (known !== undefined) return known
    const compiled = this.#variables.get(name)
    const quoted = JSON.stringify(name)
    if (!compiled || 'error' in compiled) {
      const why = compiled?.error ?? 'it is not declared'
      throw new CelRuntimeError(`composited variable ${quoted} fails to compile: ${why}`)
    }
    try {
      const { value, cost } = this.#run(compiled)
      this.#spend(cost)
      this.#values.set(name, value)
      return value
    } catch (error) {
      if (!(error instanceof CelRuntimeError || error instanceof CelCostError)) throw error
      throw new CelRuntimeError(`composited variable ${quoted} fails to evaluate: ${error.message}`)
    }
  }
}

function bindingsOf({ subject, params, namespace, session }: ActivationInput): Bindings {
  const { request, object, oldObject } = subject
  return {
    object: object ?? null,
    oldObject: oldObject ?? null,
    request: () => reviewRequest(subject),
    namespaceObject: namespace ? namespaceFields(namespace) : null,
    params: params ?? null,
    ...(session
      ? {
          authorizer: authorizerValue(session),
          'authorizer.requestResource': resourceCheckValue(session, {
            group: request.resource.group,
            resource: request.resource.resource,
            subresource: request.subresource,
            namespace: namespaceOf(request),
            name: request.name,
          }),
        }
      : {}),
  }
}

/** Expressions cannot see the managers and owners of a namespace. */
function namespaceFields({ metadata, spec, status }: AnyObject): JsonObject {
  const { managedFields: _managers, ownerReferences: _owners, uid, ...shown } = metadata
  return {
    metadata: { ...shown, ...(uid === undefined ? {} : { UID: uid }) },
    ...(isJsonObject(spec) ? { spec } : {}),
    ...(isJsonObject(status) ? { status } : {}),
  }
}
