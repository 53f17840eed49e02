/** All pages: their paths, and which of them are in the navigation. Each is loaded when it is first shown. */
import { lazy, type ComponentType } from 'react'
import type { IconName } from '../parts/icon.tsx'
import { FleetPage } from '../pages/fleet/page.tsx'
import { ClustersPage } from '../pages/clusters/page.tsx'
import type { appTexts } from './texts.ts'

type AppTexts = (typeof appTexts)['en']

export interface PageEntry {
  readonly path: string
  readonly page: ComponentType
  /** Its place in the navigation. Omitted for pages that others lead to. */
  readonly link?: {
    readonly section: keyof AppTexts['sections']
    readonly icon: IconName
    readonly title: (texts: AppTexts) => string
    /** Where the link leads, if the path has parameters. */
    readonly href?: string
  }
}

export const pageTable: readonly PageEntry[] = [
  {
    path: '/',
    page: FleetPage,
    link: { section: 'look', icon: 'fleet', title: (texts) => texts.fleet },
  },
  {
    path: '/clusters',
    page: ClustersPage,
    link: { section: 'look', icon: 'list', title: (texts) => texts.clusters },
  },
  {
    path: '/clusters/:cluster/:tab?',
    page: lazy(async () => ({ default: (await import('../pages/cluster/page.tsx')).ClusterPage })),
  },
  {
    path: '/objects/:cluster/:group/:version/:resource/:namespace/:name/:tab?',
    page: lazy(async () => ({ default: (await import('../pages/object/page.tsx')).ObjectPage })),
  },
]
