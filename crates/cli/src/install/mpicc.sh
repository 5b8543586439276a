#!/bin/sh
# @NAME@: the @LANGUAGE@ compiler with what a program of MPI needs. Part of Motet @VERSION@.
#
# Everything is found from where this script lies, so that the whole folder can be moved.

here=$(dirname -- "$(readlink -f -- "$0")")
prefix=$(cd -- "$here/.." && pwd) || exit 1
compiler=${@VARIABLE@:-@COMPILER@}
for_compiling="-I$prefix/include"
for_linking="-L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpi_abi"

show=no link=yes inputs=no
for word do
  shift
  case $word in
    -?*) ;;
    *) inputs=yes ;;
  esac
  case $word in
    -show | --show | -showme | --showme) show=yes ;;
    -showme:compile | --showme:compile | -compile-info | -compile_info) show=compile ;;
    -showme:link | --showme:link | -link-info | -link_info) show=link ;;
    -showme:command | --showme:command) show=command ;;
    -showme:incdirs | --showme:incdirs) show=incdirs ;;
    -showme:libdirs | --showme:libdirs) show=libdirs ;;
    -showme:libs | --showme:libs) show=libs ;;
    -showme:version | --showme:version) show=version ;;
    -cc=* | -cxx=*) compiler=${word#*=} ;;
    -c | -S | -E | -M | -MM | -fsyntax-only) link=no; set -- "$@" "$word" ;;
    *) set -- "$@" "$word" ;;
  esac
done

case $show in
  no | yes) ;;
  compile) echo "$for_compiling"; exit ;;
  link) echo "$for_linking"; exit ;;
  command) echo "$compiler"; exit ;;
  incdirs) echo "$prefix/include"; exit ;;
  libdirs) echo "$prefix/lib"; exit ;;
  libs) echo mpi_abi; exit ;;
  version) echo 'Motet @VERSION@ (@NAME@)'; exit ;;
esac

# What asks the compiler about itself, as -v does, links nothing.
if [ "$link" = yes ] && [ "$show$inputs" != nono ]; then
  set -- "-I$prefix/include" "$@" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" \
    -Wl,--enable-new-dtags -lmpi_abi
else
  set -- "-I$prefix/include" "$@"
fi
if [ "$show" = yes ]; then
  echo "$compiler" "$@"
  exit
fi
exec $compiler "$@"
