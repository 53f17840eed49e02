import { inBoth } from '../../words/language.ts'

export const placesTexts = inBoth({
  en: {
    noKinds: 'This cluster has no kinds of places',
    noKindsHint:
      'With them an application is written once and runs in each group of nodes with pods of its own. Start the site, or the agent of another cluster, with:',
    applications: 'Applications in places',
    noApplications: 'No application runs in places',
    noApplicationsHint: (kinds: string) => `Apply an object of one of these kinds: ${kinds}.`,
    places: 'Units, groups and pools of nodes',
    noPlaces: 'There is no unit, group or pool of nodes',
    noPlacesHint: (kinds: string) =>
      `A label of nodes is enough for a grid. Objects of these kinds name places: ${kinds}.`,
    name: 'Name',
    kind: 'Kind',
    namespace: 'Namespace',
    allNamespaces: 'all',
    filter: 'Filter by name, node or problem',
    state: 'State',
    ready: 'Ready',
    problem: 'Problem',
    system: 'System',
    nodes: 'Nodes',
    leaving: 'Is being deleted',
    missing: (names: string) => `These nodes do not exist: ${names}`,
    units: (count: number) => (count === 1 ? '1 unit' : `${count} units`),
    ownCluster: (servers: string) => `Own cluster: ${servers}`,
    others: (count: number, names: string) =>
      `${count === 1 ? '1 node is' : `${count} nodes are`} in no place: ${names}`,
    noNodes: 'none',
  },
  zh: {
    noKinds: '此集群没有“多地点”类型',
    noKindsHint:
      '有了这些类型，应用只需编写一次，即可在每组节点上以自己的容器组运行。请用以下参数启动站点，或其他集群的代理：',
    applications: '多地点应用',
    noApplications: '没有多地点应用',
    noApplicationsHint: (kinds: string) => `请应用以下类型之一的对象：${kinds}。`,
    places: '节点单元、组和池',
    noPlaces: '没有节点单元、组或池',
    noPlacesHint: (kinds: string) => `网格只需节点标签即可。以下类型的对象可为地点命名：${kinds}。`,
    name: '名称',
    kind: '类型',
    namespace: '命名空间',
    allNamespaces: '全部',
    filter: '按名称、节点或问题筛选',
    state: '状态',
    ready: '就绪',
    problem: '问题',
    system: '系统',
    nodes: '节点',
    leaving: '正在删除',
    missing: (names: string) => `这些节点不存在：${names}`,
    units: (count: number) => `${count} 个单元`,
    ownCluster: (servers: string) => `独立集群：${servers}`,
    others: (count: number, names: string) => `${count} 个节点不属于任何地点：${names}`,
    noNodes: '无',
  },
})

export type PlacesTexts = (typeof placesTexts)['en']
