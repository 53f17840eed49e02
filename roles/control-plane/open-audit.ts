import { join } from 'node:path'
import { parseDurationMs } from '@skerry/api'
import {
  createAuditTrail,
  createAuditWebhook,
  openAuditLog,
  readAuditPolicy,
  type AuditTrail,
} from '@skerry/apiserver'
import type { Task } from '@skerry/base'
import { readText, wrongUse } from '../runtime/read-config-file.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AuditFileOptions, AuditOptions, AuditWebhookOptions } from './access-options.ts'
import { openWebhookTransport } from './webhook-transport.ts'
import { controlPlaneBounds } from './limits-table.ts'

export interface Audit extends AsyncDisposable {
  /** If omitted, nothing is recorded. */
  readonly trail?: AuditTrail
  readonly tasks: readonly Task[]
}

const { bodyBytesMax } = controlPlaneBounds.openAudit
const dayMs = 86_400_000

/** Opens the audit log: a file, a webhook, or both. Without a policy nothing is recorded. */
export async function openAudit(
  directory: string,
  { policyFile, log: file = {}, webhook: called = {} }: AuditOptions,
  context: RoleContext,
): Promise<Audit> {
  await using stack = new AsyncDisposableStack()
  if (policyFile === undefined) return { tasks: [], ...ownedBy(stack) }
  const policy = readAuditPolicy(await readText(policyFile))
  const webhook = await openWebhook(called, { context, stack })
  const hasFile = !webhook || file.path !== undefined
  const log = hasFile && stack.use(await openLog(directory, file, context))
  const write = (line: string): void => {
    if (log) log.write(line)
    webhook?.write(line)
  }
  return {
    trail: createAuditTrail({ policy, write, bodyBytesMax }, context.clock),
    tasks: webhook ? [(signal) => webhook.run(signal)] : [],
    ...ownedBy(stack),
  }
}

function ownedBy(stack: AsyncDisposableStack): AsyncDisposable {
  const owned = stack.move()
  return { [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function openLog(directory: string, file: AuditFileOptions, { log, clock }: RoleContext) {
  const { maxAgeDays: days } = file
  const options = {
    fileBytesMax: (file.maxMegabytes ?? 100) * 1024 * 1024,
    filesMax: (file.maxBackups ?? 4) + 1,
    ...(days ? { fileAgeMsMax: days * dayMs } : {}),
  }
  const path = file.path ?? join(directory, 'audit-events.log')
  return openAuditLog(path, options, { log, clock })
}

async function openWebhook(
  options: AuditWebhookOptions,
  { context, stack }: { context: RoleContext; stack: AsyncDisposableStack },
) {
  const { configFile: path, batchMaxWait: wait = '30s' } = options
  if (path === undefined) return undefined
  const batchMs = parseDurationMs(wait)
  if (batchMs === undefined || batchMs < 0) {
    throw wrongUse(`--audit-webhook-batch-max-wait ${wait} is not a duration`)
  }
  const { clock, random, log, metrics } = context
  const lost = metrics.counter('apiserver_audit_error_total', 'Audit events that were lost.', [
    'plugin',
  ])
  return createAuditWebhook(
    {
      batchMs,
      batchMax: options.batchMaxSize ?? 400,
      bufferMax: options.batchBufferSize ?? 10_000,
    },
    {
      transport: stack.use(await openWebhookTransport(path, context)),
      clock,
      random,
      log,
      lost: { inc: (count = 1) => lost.inc({ plugin: 'webhook' }, count) },
    },
  )
}
