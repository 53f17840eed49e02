import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodes } from '@skerry/base'
import { NotConnectedError, type Transport } from '@skerry/client'
import { reachControlPlane } from './reach-control-plane.ts'

const server = 'https://127.0.0.1:7443'
const request = { method: 'POST', path: '/apis/x?secret=1', headers: {} } as const
const answer: Awaited<ReturnType<Transport['send']>> = { status: 201, headers: {}, body: none() }

async function* none(): AsyncGenerator<Uint8Array> {
  // An answer without a body.
}

/** A clock on which every wait is over at once. */
const clock = {
  sleep: async (_ms: number, signal: AbortSignal): Promise<void> => signal.throwIfAborted(),
}

/** Fails with these errors, one after another, and then answers. */
function failing(...errors: readonly Error[]): Transport & { sent: number } {
  const left = [...errors]
  return {
    sent: 0,
    async send() {
      this.sent += 1
      const error = left.shift()
      if (error) throw error
      return answer
    },
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(`read ${code}`), { code })
}

test('a request that a busy server did not accept is sent again', async () => {
  const transport = failing(new NotConnectedError('closed'), new NotConnectedError('closed'))
  const { status } = await reachControlPlane(transport, server, clock).send(
    request,
    new AbortController().signal,
  )
  assert.deepEqual([status, transport.sent], [201, 3])
})

test('a server that stays too busy is reported in one line', async () => {
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  for (const error of [new NotConnectedError('closed'), late]) {
    const controller = new AbortController()
    const transport: Transport = {
      send() {
        controller.abort(late)
        return Promise.reject(error)
      },
    }
    const asking = reachControlPlane(transport, server, clock).send(request, controller.signal)
    await assert.rejects(asking, {
      name: 'ExpectedError',
      exitCode: exitCodes.unreachable,
      message: `Cannot reach the control plane at ${server}: it is too busy to answer in time; try again`,
    })
  }
})

test('a caller that stops asking gets its own reason', async () => {
  const reason = new Error('stopped')
  const asking = reachControlPlane(failing(reason), server, clock)
  await assert.rejects(asking.send(request, AbortSignal.abort(reason)), reason)
})

for (const [code, why] of [
  ['ECONNREFUSED', 'nothing listens there; start it'],
  ['ECONNRESET', 'it closed the connection during POST /apis/x; see its log, and try again'],
] as const) {
  test(`a request that may have arrived is not sent twice: ${code}`, async () => {
    const transport = failing(coded(code))
    const asking = reachControlPlane(transport, server, clock).send(
      request,
      new AbortController().signal,
    )
    await assert.rejects(asking, {
      name: 'ExpectedError',
      message: `Cannot reach the control plane at ${server}: ${why}`,
    })
    assert.equal(transport.sent, 1)
  })
}
