import type { SiteAgentOptions } from './site-agent.ts'
import type { SitePart } from '../contract/site-part.ts'

/** Connects the site to its hub. The agent is imported only by a site that has a hub. */
export function hubAgent(options: SiteAgentOptions | undefined, isShared: boolean): SitePart {
  if (options === undefined) return {}
  return {
    tasks: (site) => [
      async (scope) => {
        const { runSiteAgent } = await import('./site-agent.ts')
        await runSiteAgent(options, site, scope, isShared)
      },
    ],
  }
}
