import { etcdError, notImplemented } from './etcd-errors-table.ts'
import { stream, unary, type GrpcMethod } from '../grpc/grpc-call.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import { hashHistory } from './hash-history.ts'
import { sendSnapshot } from './send-snapshot.ts'
import { headerOf, raftTerm, rightsOf, type ServiceContext } from './service-context.ts'

const alarms = Object.freeze({ none: 0, noSpace: 1 })
const alarmActions = Object.freeze({ get: 0, activate: 1, deactivate: 2 })

/** etcdserverpb.Maintenance. */
export function maintenanceService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine } = context
  return {
    Status: unary('StatusRequest', 'StatusResponse', (_request, call) => {
      rightsOf(context, call).checkUser()
      return status(context)
    }),
    Alarm: unary('AlarmRequest', 'AlarmResponse', (request, call) => {
      const rights = rightsOf(context, call)
      if (request.action === alarmActions.get) rights.checkUser()
      else rights.checkAdmin()
      return alarm(context, request)
    }),
    Defragment: unary('DefragmentRequest', 'DefragmentResponse', async (_request, call) => {
      rightsOf(context, call).checkAdmin()
      await engine.defragment()
      return {}
    }),
    Hash: unary('HashRequest', 'HashResponse', async (_request, call) => {
      rightsOf(context, call).checkAdmin()
      const { hash } = await hashHistory(engine, 0)
      return { header: headerOf(engine), hash }
    }),
    HashKV: unary('HashKVRequest', 'HashKVResponse', async ({ revision }, call) => {
      rightsOf(context, call).checkAdmin()
      const { hash, compacted, revision: hashRevision } = await hashHistory(engine, revision)
      // In etcd -1 means that nothing was compacted.
      const compactRevision = compacted === 0 ? -1 : compacted
      return { header: headerOf(engine), hash, compactRevision, hashRevision }
    }),
    MoveLeader: unary('Empty', 'Empty', () => {
      throw etcdError('badTransferee')
    }),
    Snapshot: stream('Empty', 'SnapshotResponse', async (_requests, answers) => {
      rightsOf(context, answers).checkAdmin()
      await sendSnapshot(context, answers)
    }),
    Downgrade: unary('Empty', 'Empty', () => {
      throw notImplemented('it serves one version of the API, and cannot be downgraded')
    }),
  }
}

function status({ engine, member }: ServiceContext): MessageDraft<'StatusResponse'> {
  const { revision, memberId: leader } = engine
  const { bytes, usedBytes } = engine.size()
  return {
    header: headerOf(engine),
    version: member.version,
    storageVersion: member.version,
    dbSize: bytes,
    dbSizeInUse: usedBytes,
    dbSizeQuota: member.quotaBytes,
    leader,
    raftTerm,
    raftIndex: revision,
    raftAppliedIndex: revision,
    errors: engine.isOutOfSpace ? [`memberID:${leader} alarm:NOSPACE `] : [],
  }
}

/** Knows the alarm of a full store alone. The operator who disarms it promises that there is space again. */
async function alarm(
  { engine }: ServiceContext,
  { action, alarm: kind }: Message<'AlarmRequest'>,
): Promise<MessageDraft<'AlarmResponse'>> {
  const wasOutOfSpace = engine.isOutOfSpace
  const isMeant = kind === alarms.noSpace
  if (action === alarmActions.activate && isMeant) await engine.setOutOfSpace(true)
  if (action === alarmActions.deactivate && isMeant) await engine.setOutOfSpace(false)
  const isShown =
    action === alarmActions.deactivate ? isMeant && wasOutOfSpace : engine.isOutOfSpace
  const shown = { memberId: engine.memberId, alarm: alarms.noSpace }
  return { header: headerOf(engine), alarms: isShown ? [shown] : [] }
}
