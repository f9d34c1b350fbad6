// Package trend judges whether a series of samples grows: by how much a day, with an interval, and what that means. It takes points in time
// and gives a [Verdict]. It reads no clock and no files.
//
// What a load does in turns, each as long as a period, shows in all that is sampled, and samples that follow each other are alike. So the
// samples of each whole period become one value, in which the turns are averaged out: [Cycles]. Through these values goes the line of Theil
// and Sen, the median of the slopes of all pairs, which a few outliers do not move. Its interval is that of Sen (1968), with the variance of
// Kendall's S as Hamed and Rao (1998) correct it for values that depend on the ones before them, here as an autoregression of first order.
package trend
