/** All pages: their paths, and which of them are in the navigation. Each is loaded when it is first shown. */
import { lazy, type ComponentType } from 'react'
import { useWaitingAgents } from '../data/edge/use-registrations.ts'
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
    /** A hook that counts what waits there for a person. */
    readonly useCount?: () => number
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
    path: '/clusters/:cluster/add-nodes',
    page: lazy(async () => ({
      default: (await import('../pages/add-nodes/page.tsx')).AddNodesPage,
    })),
  },
  {
    path: '/clusters/:cluster/places/:resource/:namespace/:name/:tab?',
    page: lazy(async () => ({
      default: (await import('../pages/placed-application/page.tsx')).PlacedApplicationPage,
    })),
  },
  {
    path: '/search',
    page: lazy(async () => ({ default: (await import('../pages/search/page.tsx')).SearchPage })),
    link: { section: 'look', icon: 'search', title: (texts) => texts.search },
  },
  {
    path: '/events',
    page: lazy(async () => ({ default: (await import('../pages/events/page.tsx')).EventsPage })),
    link: { section: 'look', icon: 'inbox', title: (texts) => texts.events },
  },
  {
    path: '/clusters/:cluster/:tab?',
    page: lazy(async () => ({ default: (await import('../pages/cluster/page.tsx')).ClusterPage })),
  },
  {
    path: '/edge-clusters',
    page: lazy(async () => ({
      default: (await import('../pages/edge-clusters/page.tsx')).EdgeClustersPage,
    })),
    link: { section: 'grow', icon: 'layers', title: (texts) => texts.edgeClusters },
  },
  {
    path: '/edge-clusters/:namespace/:name',
    page: lazy(async () => ({
      default: (await import('../pages/edge-cluster/page.tsx')).EdgeClusterPage,
    })),
  },
  {
    path: '/new-edge-cluster',
    page: lazy(async () => ({
      default: (await import('../pages/edge-cluster-form/page.tsx')).EdgeClusterFormPage,
    })),
    link: { section: 'grow', icon: 'add', title: (texts) => texts.newEdgeCluster },
  },
  {
    path: '/virtual-clusters',
    page: lazy(async () => ({
      default: (await import('../pages/virtual-clusters/page.tsx')).VirtualClustersPage,
    })),
    link: { section: 'look', icon: 'virtual', title: (texts) => texts.virtualClusters },
  },
  {
    path: '/jobs',
    page: lazy(async () => ({ default: (await import('../pages/jobs/page.tsx')).JobsPage })),
    link: { section: 'grow', icon: 'refresh', title: (texts) => texts.jobs },
  },
  {
    path: '/jobs/:namespace/:name',
    page: lazy(async () => ({ default: (await import('../pages/job/page.tsx')).JobPage })),
  },
  {
    path: '/new-job',
    page: lazy(async () => ({
      default: (await import('../pages/job-form/page.tsx')).JobFormPage,
    })),
  },
  {
    path: '/connect',
    page: lazy(async () => ({
      default: (await import('../pages/registrations/page.tsx')).RegistrationsPage,
    })),
    link: {
      section: 'grow',
      icon: 'import',
      title: (texts) => texts.connect,
      useCount: useWaitingAgents,
    },
  },
  {
    path: '/applications',
    page: lazy(async () => ({
      default: (await import('../pages/applications/page.tsx')).ApplicationsPage,
    })),
    link: { section: 'run', icon: 'route', title: (texts) => texts.applications },
  },
  {
    path: '/applications/:namespace/:name/:tab?',
    page: lazy(async () => ({
      default: (await import('../pages/application/page.tsx')).ApplicationPage,
    })),
  },
  {
    path: '/policies',
    page: lazy(async () => ({
      default: (await import('../pages/policies/page.tsx')).PoliciesPage,
    })),
    link: { section: 'run', icon: 'policy', title: (texts) => texts.policies },
  },
  {
    path: '/policies/:kind/:namespace/:name/:tab?',
    page: lazy(async () => ({ default: (await import('../pages/policy/page.tsx')).PolicyPage })),
  },
  {
    path: '/new-policy',
    page: lazy(async () => ({
      default: (await import('../pages/policy-form/page.tsx')).PolicyFormPage,
    })),
  },
  {
    path: '/hub-objects',
    page: lazy(async () => ({
      default: (await import('../pages/hub-objects/page.tsx')).HubObjectsPage,
    })),
    link: { section: 'run', icon: 'objects', title: (texts) => texts.hubObjects },
  },
  {
    path: '/access/:tab?',
    page: lazy(async () => ({ default: (await import('../pages/access/page.tsx')).AccessPage })),
    link: { section: 'guard', icon: 'key', title: (texts) => texts.access, href: '/access' },
  },
  {
    path: '/settings',
    page: lazy(async () => ({
      default: (await import('../pages/settings/page.tsx')).SettingsPage,
    })),
    link: { section: 'guard', icon: 'settings', title: (texts) => texts.settings },
  },
  {
    path: '/audit',
    page: lazy(async () => ({ default: (await import('../pages/audit/page.tsx')).AuditPage })),
    link: { section: 'guard', icon: 'audit', title: (texts) => texts.audit },
  },
  {
    path: '/objects/:cluster/:group/:version/:resource/:namespace/:name/:tab?',
    page: lazy(async () => ({ default: (await import('../pages/object/page.tsx')).ObjectPage })),
  },
]
