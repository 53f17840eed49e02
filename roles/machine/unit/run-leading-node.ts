import { createMetrics, linkedSignal, runAll, unlessAborted, type LinkedSignal } from '@skerry/base'
import { runNode, type NodeOptions } from '../../node/node.ts'
import { hostAddresses } from '../../runtime/host-addresses.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { leadUnit } from './lead-unit.ts'
import type { UnitSiteOptions } from './unit-site.ts'

/** Runs a node that keeps a control plane for its unit whenever its parent hands that over. */
export async function runLeadingNode(
  options: NodeOptions,
  unit: Pick<UnitSiteOptions, 'port' | 'etcdProgram' | 'hub'>,
  context: RoleContext,
): Promise<void> {
  const turns = new NodeTurns()
  const { dataDir, nodeName, nodeIp } = options
  const address = nodeIp ?? hostAddresses()[0] ?? '127.0.0.1'
  const restartNode = (): Promise<void> => turns.restart(context.signal)
  await runAll(context.signal, [
    (signal) => turns.run(options, { ...context, signal }),
    (signal) =>
      leadUnit({ ...unit, dataDir, nodeName, address, restartNode }, { ...context, signal }),
  ])
}

/** The node's agent, which takes another identity at each start. Its containers do not notice. */
class NodeTurns {
  #turn: LinkedSignal | undefined
  #identified = Promise.withResolvers<void>()

  async run(options: NodeOptions, context: RoleContext): Promise<void> {
    const { signal } = context
    for (;;) {
      using turn = linkedSignal(signal)
      this.#turn = turn
      // Each start counts from the beginning, as that of a process does.
      const started = { ...context, signal: turn.signal, metrics: createMetrics() }
      try {
        await runNode(options, started, () => this.#identified.resolve())
      } catch (error) {
        if (signal.aborted || error !== turn.signal.reason) throw error
      }
      if (signal.aborted) return
    }
  }

  /** Resolves when the agent has taken its next identity, or has refused it. */
  async restart(signal: AbortSignal): Promise<void> {
    this.#identified = Promise.withResolvers()
    this.#turn?.abort(new Error('The node starts again'))
    await unlessAborted(this.#identified.promise, signal)
  }
}
