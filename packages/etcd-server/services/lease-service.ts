import { NoLeaseError } from '../engine/engine-errors.ts'
import { etcdError } from './etcd-errors-table.ts'
import { stream, unary, type AnswerStream, type GrpcMethod } from '../grpc/grpc-call.ts'
import { etcdServerBounds } from '../limits-table.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'

const { ttlSecondsMin, ttlSecondsMax, leasesMax } = etcdServerBounds.leaseService

/** etcdserverpb.Lease. */
export function leaseService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine } = context
  return {
    LeaseGrant: unary('LeaseGrantRequest', 'LeaseGrantResponse', (request, call) => {
      rightsOf(context, call).checkUser()
      return grant(context, request)
    }),
    LeaseRevoke: unary('LeaseRevokeRequest', 'LeaseRevokeResponse', async ({ id }, call) => {
      rightsOf(context, call).checkLeaseWrite(id)
      if (!engine.leases.has(id)) throw new NoLeaseError()
      return { header: headerOf(engine, await engine.revokeLease(id)) }
    }),
    LeaseKeepAlive: stream('LeaseKeepAliveRequest', 'LeaseKeepAliveResponse', (requests, answers) =>
      keepAlive(context, requests, answers),
    ),
    LeaseTimeToLive: unary('LeaseTimeToLiveRequest', 'LeaseTimeToLiveResponse', (request, call) => {
      const rights = rightsOf(context, call)
      if (request.keys) rights.checkLeaseRead(request.id)
      else rights.checkUser()
      return timeToLive(context, request)
    }),
    LeaseLeases: unary('LeaseLeasesRequest', 'LeaseLeasesResponse', (_request, call) => {
      const rights = rightsOf(context, call)
      rights.checkUser()
      const ids = engine.leases.ids()
      if (context.auth.isEnabled) for (const id of ids) rights.checkLeaseRead(id)
      return { header: headerOf(engine), leases: ids.map((id) => ({ id })) }
    }),
  }
}

async function grant(
  { engine }: ServiceContext,
  request: Message<'LeaseGrantRequest'>,
): Promise<MessageDraft<'LeaseGrantResponse'>> {
  if (request.ttl > ttlSecondsMax) throw etcdError('leaseTtlTooLarge')
  const id = request.id === 0n ? engine.leases.freeId() : request.id
  if (engine.leases.size >= leasesMax) throw etcdError('tooManyRequests')
  const ttl = Math.max(request.ttl, ttlSecondsMin)
  const isGranted = await engine.grantLease(id, ttl)
  if (!isGranted) throw etcdError('leaseExists')
  return { header: headerOf(engine), id, ttl }
}

async function keepAlive(
  context: ServiceContext,
  requests: AsyncIterable<Message<'LeaseKeepAliveRequest'>>,
  answers: AnswerStream<'LeaseKeepAliveResponse'>,
): Promise<void> {
  const { engine } = context
  for await (const { id } of requests) {
    rightsOf(context, answers).checkLeaseWrite(id)
    const ttl = renewed(id)
    if (!answers.send({ header: headerOf(engine), id, ttl })) await answers.whenDrained()
  }

  /** A lease that is gone has no time left; that is not an error. */
  function renewed(id: bigint): number {
    try {
      return engine.leases.renew(id)
    } catch (error) {
      if (error instanceof NoLeaseError) return 0
      throw error
    }
  }
}

function timeToLive(
  { engine }: ServiceContext,
  { id, keys }: Message<'LeaseTimeToLiveRequest'>,
): MessageDraft<'LeaseTimeToLiveResponse'> {
  const header = headerOf(engine)
  const time = engine.leases.time(id)
  if (time === undefined) return { header, id, ttl: -1 }
  const found = { header, id, ttl: time.remainingSeconds, grantedTtl: time.ttlSeconds }
  return keys ? { ...found, keys: engine.keysOf(id) } : found
}
