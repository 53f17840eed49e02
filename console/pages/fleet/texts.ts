import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Fleet',
    clusters: (count: number) => (count === 1 ? '1 cluster' : `${count} clusters`),
    filter: 'Filter by name, place, label',
    group: 'Group by',
    groups: {
      region: 'Region',
      zone: 'Zone',
      provider: 'Provider',
      version: 'Version',
      state: 'State',
    },
    attention: 'Needs attention',
    allWell: 'Nothing needs attention: every cluster that reports is healthy.',
    waiting: (count: number) =>
      count === 1 ? '1 agent waits to be accepted' : `${count} agents wait to be accepted`,
    places: 'Places',
    view: 'Show as',
    map: 'Map',
    grid: 'Grid',
    withoutPlace: (count: number) =>
      count === 1
        ? '1 cluster has no place on the map.'
        : `${count} clusters have no place on the map.`,
    noPlace: {
      region: 'No region',
      zone: 'No zone',
      provider: 'No provider',
      version: 'No version',
      state: '',
    },
    noLabel: 'No such label',
    more: (count: number) => `${count} more`,
    empty: 'The fleet has no cluster that you may see',
    emptyHint: 'Connect an existing cluster: the hub prints a command to run in that cluster.',
    nodes: (ready: number, total: number) => `${ready} of ${total} nodes ready`,
  },
  zh: {
    title: '总览',
    clusters: (count: number) => `${count} 个集群`,
    filter: '按名称、位置、标签筛选',
    group: '分组',
    groups: { region: '地域', zone: '可用区', provider: '提供商', version: '版本', state: '状态' },
    attention: '需要关注',
    allWell: '没有需要关注的集群：所有已连接的集群都正常。',
    waiting: (count: number) => `${count} 个代理等待接受`,
    places: '位置',
    view: '显示为',
    map: '地图',
    grid: '网格',
    withoutPlace: (count: number) => `${count} 个集群在地图上没有位置。`,
    noPlace: {
      region: '无地域',
      zone: '无可用区',
      provider: '无提供商',
      version: '无版本',
      state: '',
    },
    noLabel: '无此标签',
    more: (count: number) => `还有 ${count} 个`,
    empty: '舰队中没有您可以查看的集群',
    emptyHint: '接入已有集群：在中心打印命令，并在该集群运行。',
    nodes: (ready: number, total: number) => `${total} 个节点中 ${ready} 个就绪`,
  },
})
