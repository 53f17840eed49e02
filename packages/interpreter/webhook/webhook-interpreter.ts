import { randomUUID } from 'node:crypto'
import { messageOf } from '@skerry/base'
import { applyJsonPatch } from '@skerry/bodies'
import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import {
  readComponents,
  readDependencies,
  readHealth,
  readObject,
  readReplicas,
  readRequirements,
  readStatus,
} from '../contract/interpreted-values.ts'
import type {
  InterpretedReplicas,
  InterpreterOperation,
  ResourceInterpreter,
} from '../contract/resource-interpreter.ts'
import type { CallWebhook } from './call-interpreter-webhook.ts'
import type { InterpreterWebhook, InterpreterWebhooks } from './interpreter-webhooks.ts'

const contextVersion = 'v1alpha1'
const apiVersion = `config.karmada.io/${contextVersion}`

/** A webhook has given no answer, or one that is none. */
export class InterpreterWebhookError extends Error {
  override name = 'InterpreterWebhookError'
}

/**
 * Interprets the kinds that a webhook is configured for, by its answer to a ResourceInterpreterContext. Each
 * method rejects with an InterpreterWebhookError if there is none.
 */
export class WebhookInterpreter implements ResourceInterpreter {
  readonly #webhooks: () => InterpreterWebhooks
  readonly #call: CallWebhook

  constructor(webhooks: () => InterpreterWebhooks, call: CallWebhook) {
    this.#webhooks = webhooks
    this.#call = call
  }

  knows(object: AnyObject, operation: InterpreterOperation): boolean {
    return this.#webhooks().of(object, operation) !== undefined
  }

  async replicas(object: AnyObject, signal: AbortSignal): Promise<InterpretedReplicas> {
    return this.#ask({ object, operation: 'InterpretReplica' }, signal, (response) => {
      const requirements = readRequirements(response['replicaRequirements'])
      const replicas = readReplicas(response['replicas'])
      return { replicas, ...(requirements ? { requirements } : {}) }
    })
  }

  async components(object: AnyObject, signal: AbortSignal) {
    return this.#ask({ object, operation: 'InterpretComponent' }, signal, ({ components }) =>
      readComponents(components),
    )
  }

  async reviseReplica(object: AnyObject, replicas: number, signal: AbortSignal) {
    const asked: Question = { object, operation: 'ReviseReplica', more: { replicas } }
    return this.#ask(asked, signal, (response) => patched(object, response))
  }

  async retain(desired: AnyObject, observed: AnyObject, signal: AbortSignal) {
    const more = { observedObject: observed }
    const asked: Question = { object: desired, operation: 'Retain', more }
    return this.#ask(asked, signal, (response) => patched(desired, response))
  }

  async prune(object: AnyObject, signal: AbortSignal) {
    const asked: Question = { object, operation: 'Prune' }
    return this.#ask(asked, signal, (response) => patched(object, response))
  }

  async reflectStatus(object: AnyObject, signal: AbortSignal) {
    return this.#ask({ object, operation: 'InterpretStatus' }, signal, ({ rawStatus }) =>
      readStatus(rawStatus),
    )
  }

  async aggregateStatus(
    template: AnyObject,
    items: readonly AggregatedStatusItem[],
    signal: AbortSignal,
  ) {
    const more = { aggregatedStatus: items }
    const asked: Question = { object: template, operation: 'AggregateStatus', more }
    return this.#ask(asked, signal, (response) => patched(template, response))
  }

  async health(object: AnyObject, signal: AbortSignal) {
    return this.#ask({ object, operation: 'InterpretHealth' }, signal, ({ healthy }) =>
      readHealth(healthy),
    )
  }

  async dependencies(object: AnyObject, signal: AbortSignal) {
    return this.#ask({ object, operation: 'InterpretDependency' }, signal, ({ dependencies }) =>
      readDependencies(dependencies ?? []),
    )
  }

  async #ask<Result>(
    asked: Question,
    signal: AbortSignal,
    read: (response: JsonObject) => Result,
  ): Promise<Result> {
    const { object, operation } = asked
    const webhook = this.#webhooks().of(object, operation)
    try {
      if (webhook === undefined) throw new Error('it no longer exists')
      const uid = randomUUID()
      const answer = await this.#call(webhook, requestOf(asked, webhook, uid), signal)
      return read(responseOf(answer, uid))
    } catch (error) {
      signal.throwIfAborted()
      const { namespace = '', name = '' } = object.metadata
      const what = `webhook "${webhook?.id ?? ''}" for ${operation} of ${object.kind} "${namespace}/${name}"`
      const why = messageOf(error)
      throw new InterpreterWebhookError(`Cannot ask ${what}: ${why}`, { cause: error })
    }
  }
}

interface Question {
  readonly object: AnyObject
  readonly operation: InterpreterOperation
  readonly more?: JsonObject
}

function requestOf(asked: Question, webhook: InterpreterWebhook, uid: string): string {
  const { object, operation, more = {} } = asked
  const { interpreterContextVersions = [] } = webhook
  if (!interpreterContextVersions.includes(contextVersion)) {
    throw new Error(`it takes no ResourceInterpreterContext of version ${contextVersion}`)
  }
  const slash = object.apiVersion.indexOf('/')
  const { name = '', namespace } = object.metadata
  return JSON.stringify({
    apiVersion,
    kind: 'ResourceInterpreterContext',
    request: {
      uid,
      kind: {
        group: slash === -1 ? '' : object.apiVersion.slice(0, slash),
        version: object.apiVersion.slice(slash + 1),
        kind: object.kind,
      },
      name,
      ...(namespace ? { namespace } : {}),
      operation,
      object,
      // Karmada sends it with every question.
      replicas: 0,
      ...more,
    },
  })
}

/** Returns the response in an answer. Throws an Error if the answer is invalid. */
function responseOf(answer: unknown, uid: string): JsonObject {
  const response = isJsonObject(answer) ? answer['response'] : undefined
  if (!isJsonObject(response)) throw new Error('its answer has no response')
  if (response['uid'] !== uid) throw new Error('its response is to another request')
  if (response['successful'] === true) return response
  const status = response['status']
  if (!isJsonObject(status)) throw new Error('it was not successful, and does not say why')
  const { code = 0, message = '' } = status
  throw new Error(`it answered: ${JSON.stringify(message).slice(0, 1000)} (code ${String(code)})`)
}

/** Applies the patch; without one the object stays. */
function patched(object: AnyObject, { patch, patchType }: JsonObject): AnyObject {
  if (isNothing(patch) && isNothing(patchType)) return object
  if (patchType !== 'JSONPatch') throw new Error('its patchType is not JSONPatch')
  if (typeof patch !== 'string' || patch === '')
    throw new Error('its patch is not a text in base64')
  const operations: unknown = JSON.parse(Buffer.from(patch, 'base64').toString())
  return readObject(applied(object, operations), object)
}

function applied(object: AnyObject, operations: unknown): unknown {
  try {
    return applyJsonPatch(object, operations)
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`its patch cannot be applied: ${why}`, { cause: error })
  }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
