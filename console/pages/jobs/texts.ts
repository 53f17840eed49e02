import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Jobs',
    hint: 'Upgrades, configurations and image pulls on the machines of edge clusters.',
    create: 'New job',
  },
  zh: {
    title: '作业',
    hint: '在边缘集群的机器上升级、配置和预拉镜像。',
    create: '新建作业',
  },
})
