import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  StrategyContext,
} from '@skerry/api'
import { keepField } from '../keep-fields.ts'
import { rfc3339 } from '../timestamps.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import {
  validateRequest,
  validateRequestApproval,
  validateRequestStatus,
  validateRequestUpdate,
} from './certificate-signing-request-validation.ts'

type Request = LooseObject<CertificateSigningRequest>
type Condition = Loose<CertificateSigningRequestCondition>

export const certificateSigningRequestStrategy = strategyOf<CertificateSigningRequest>({
  validate: validateRequest,
  validateUpdate: validateRequestUpdate,
  validateStatusUpdate: validateRequestStatus,
  parts: {
    approval: {
      prepare(next, old, context) {
        const conditions = next.status?.conditions ?? []
        stampConditions(conditions, old.status?.conditions ?? [], rfc3339(context.nowMs))
      },
      validate: validateRequestApproval,
    },
  },
  hasGeneration: false,
  nameRule: 'path-segment',
  defaults(request) {
    request.spec ??= {}
    request.status ??= {}
  },
  prepareForCreate: stampRequester,
  prepareForUpdate(next, old) {
    keepField(next, old, 'spec')
    keepField(next, old, 'status')
  },
  prepareForStatusUpdate: prepareStatus,
})

/** Only the server writes the requester, because signers decide by it. */
function stampRequester(next: Request, context: StrategyContext): void {
  const spec = (next.spec ??= {})
  spec.username = context.user
  delete spec.uid
  delete spec.groups
  delete spec.extra
  if (context.userUid) spec.uid = context.userUid
  if (context.userGroups?.length) spec.groups = [...context.userGroups]
  const copies = Object.entries(context.userExtra ?? {}).map(([key, values]) => [key, [...values]])
  if (copies.length > 0) spec.extra = Object.fromEntries(copies)
  next.status = {}
}

/** Approval and denial have their own subresource; the status endpoint keeps them as they were. */
function prepareStatus(next: Request, old: Request, context?: StrategyContext): void {
  keepField(next, old, 'spec')
  const conditions = next.status?.conditions ?? []
  const before = old.status?.conditions ?? []
  for (const type of ['Approved', 'Denied']) keepConditions(conditions, before, type)
  if (context) stampConditions(conditions, before, rfc3339(context.nowMs))
}

/** Restores the old instances of a type if their number has not changed. */
function keepConditions(conditions: Condition[], before: readonly Condition[], type: string): void {
  const kept = before.filter((condition) => condition.type === type)
  const places = conditions.flatMap((condition, at) => (condition.type === type ? [at] : []))
  if (kept.length !== places.length) return
  for (const [index, place] of places.entries()) conditions[place] = { ...kept[index] }
}

function stampConditions(
  conditions: readonly Condition[],
  before: readonly Condition[],
  now: string,
): void {
  for (const condition of conditions) {
    condition.lastUpdateTime ||= now
    if (condition.lastTransitionTime) continue
    const same = before.find(
      ({ type, status }) => type === condition.type && status === condition.status,
    )
    condition.lastTransitionTime = same?.lastTransitionTime || now
  }
}
