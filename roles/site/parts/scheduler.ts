import { hostname } from 'node:os'
import type { Clock } from '@skerry/base'
import { runScheduler, type SchedulerConfiguration } from '@skerry/scheduler'
import { elsewhere, type SitePart } from '../contract/site-part.ts'

export interface SchedulerOptions {
  /** True if another program's scheduler works on this API server. */
  isDisabled?: boolean | undefined
  /** The path of a KubeSchedulerConfiguration. If omitted, upstream's single profile. */
  configFile?: string | undefined
}

/** Binds pods to nodes. */
export function scheduler({ isDisabled, configFile }: SchedulerOptions): SitePart {
  if (isDisabled) return { componentFaults: { scheduler: elsewhere } }
  return {
    async leads({ context }) {
      const scheduling = await configurationOf(configFile, context.clock)
      return ({ cluster, informers, events, context: { clock, random, log } }) => {
        const deps = { cluster, informers, events, clock, random, log, host: hostname() }
        return [(scope) => runScheduler({ ...deps, ...scheduling }, scope)]
      }
    },
  }
}

/** Read and checked before anything runs; what reads it is imported only when there is one. */
async function configurationOf(
  path: string | undefined,
  clock: Clock,
): Promise<{ configuration?: SchedulerConfiguration }> {
  if (path === undefined) return {}
  const [{ readFile }, { parse }, { parseSchedulerConfiguration }] = await Promise.all([
    import('node:fs/promises'),
    import('yaml'),
    import('@skerry/scheduler'),
  ])
  const document: unknown = parse(await readFile(path, 'utf8'))
  return { configuration: await parseSchedulerConfiguration(document, { clock }) }
}
