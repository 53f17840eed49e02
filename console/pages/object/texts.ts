import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    hub: 'Hub',
    inFleet: 'Its places in the fleet',
    tabs: { yaml: 'YAML', logs: 'Logs', shell: 'Shell' },
    container: 'Container',
    allContainers: 'all',
    pause: 'Pause',
    follow: 'Follow',
    previous: 'Previous run',
    lines: (count: number, dropped: number) =>
      dropped === 0 ? `${count} lines` : `${count} lines, ${dropped} older ones left out`,
    further: (count: number) => `${count} further lines have come.`,
    filterLines: 'Filter lines',
    download: 'Download',
    noLines: 'No line has come yet.',
    noPods: 'It has no pods at the moment.',
    gap: 'The connection to the log was interrupted; the log goes on where it stopped.',
    shellEnded: (code: number) => (code < 0 ? 'The shell ended.' : `The shell ended with ${code}.`),
    shellLost: 'The connection to the shell broke. Its program has been stopped.',
    openAgain: 'Open another shell',
    morePods: (shown: number, total: number) =>
      `The logs of ${shown} of ${total} containers are shown.`,
  },
  zh: {
    hub: '中心',
    inFleet: '在舰队中的位置',
    tabs: { yaml: 'YAML', logs: '日志', shell: '终端' },
    container: '容器',
    allContainers: '全部',
    pause: '暂停',
    follow: '跟随',
    previous: '上一次运行',
    lines: (count: number, dropped: number) =>
      dropped === 0 ? `${count} 行` : `${count} 行，省略了更早的 ${dropped} 行`,
    further: (count: number) => `又有 ${count} 行。`,
    filterLines: '筛选行',
    download: '下载',
    noLines: '还没有日志。',
    noPods: '目前没有容器组。',
    gap: '日志连接曾中断，已从中断处继续。',
    shellEnded: (code: number) => (code < 0 ? '终端已结束。' : `终端已结束，退出码 ${code}。`),
    shellLost: '终端连接已断开，其中运行的程序已停止。',
    openAgain: '重新打开终端',
    morePods: (shown: number, total: number) => `显示了 ${total} 个容器中 ${shown} 个的日志。`,
  },
})
