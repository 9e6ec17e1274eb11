// The menu: on macOS it is how copy, paste and quit get their keys; elsewhere it stays hidden until Alt, and gives zoom its keys.
import type { MenuItemConstructorOptions } from 'electron'

export function createMenu({ mac, developing }: { mac: boolean; developing: boolean }): MenuItemConstructorOptions[] {
  const tools: MenuItemConstructorOptions[] = [{ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' }]
  return [
    mac ? { role: 'appMenu' } : { role: 'fileMenu' },
    { role: 'editMenu' },
    {
      role: 'viewMenu',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        ...(developing ? tools : [])
      ]
    },
    { role: 'windowMenu' }
  ]
}
