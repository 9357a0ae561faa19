// What the front end reads of the dependency's own configuration.

export const featureOn = (config, key) => config?.features?.[key] !== false

export const parseWorkingActivityConfig = text => ({ config: JSON.parse(text) })
