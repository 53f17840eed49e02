import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { must, places } from './commands.ts'
import { wantedProgram } from './program-on-machine.ts'

const secretKey = '.dockerconfigjson'

/**
 * Lets the node's own containerd pull the images that a job names, before something needs them. One that cannot be
 * pulled holds up no other; the error names each.
 */
export function pullImages(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { upgrade } = order.job.spec
    const { images = [] } = upgrade ?? order.job.spec.pullImages ?? {}
    const credentials = await readCredentials(order, context)
    // The present program may be too old for the command.
    const program =
      upgrade === undefined ? places.program : (await wantedProgram(order, context)).launcher
    const flags = credentials === undefined ? [] : ['--pull-secret-stdin']
    const { pullImages: pull, timeoutSeconds } = order.job.spec
    // In an upgrade the field is the time until the machine is Ready again.
    const timeoutMs =
      pull === undefined || timeoutSeconds === undefined
        ? edgeJobBounds.pullMsMax
        : timeoutSeconds * 1_000
    const findings: string[] = []
    for (const image of images) {
      try {
        await must(context, [program, 'image', 'pull', ...flags, '--', image], {
          timeoutMs,
          ...(credentials === undefined ? {} : { input: credentials }),
        })
      } catch (error) {
        // Anything else is the machine's fault, and the next image would meet it, too.
        if (!(error instanceof StepError)) throw error
        findings.push(`${image}: ${error.message}`)
      }
    }
    if (findings.length === 0) return `${images.length} images`
    const text = `${findings.length} of ${images.length} images were not pulled: ${findings.join('; ')}`
    throw new StepError(text, { findings })
  }
}

/** Reads the docker configuration of a Secret, and lets nothing of it be printed. */
async function readCredentials(
  { job }: JobOrder,
  { hub, conceal, signal }: MachineContext,
): Promise<string | undefined> {
  const { name } = (job.spec.upgrade ?? job.spec.pullImages)?.secretRef ?? {}
  if (name === undefined) return undefined
  const source = { namespace: job.metadata.namespace ?? '', kind: 'Secret' as const, name }
  const text = (await hub.read({ ...source, key: secretKey }, signal)).toString('utf8')
  conceal([text])
  conceal(secretsIn(text, name))
  return text
}

function secretsIn(text: string, name: string): string[] {
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch {
    // The text is a secret, so the message shows nothing of it.
    throw new StepError(`Secret ${name}: ${secretKey} is not JSON`, { isFinal: true })
  }
  const auths =
    typeof config === 'object' && config !== null && 'auths' in config ? config.auths : {}
  return Object.values(auths ?? {}).flatMap((auth: unknown) => {
    if (typeof auth !== 'object' || auth === null) return []
    const values = Object.values(auth).filter((value: unknown) => typeof value === 'string')
    const pairs = values.map((value) => Buffer.from(value, 'base64').toString('utf8'))
    return [...values, ...pairs.flatMap((pair) => pair.split(':').slice(1))]
  })
}
