// Stands in for a dependency of the terminal front end where the registry lacks it. It mounts nothing.

export const name = 'working-activity'

export function apply() {}
